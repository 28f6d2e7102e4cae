import { system } from '../audit/event.ts'
import { decide } from '../decide.ts'
import { localTrace, type Platform } from '../platform.ts'
import { lackOfRoom, startBackup } from './backups.ts'

/** When the backup of a day is due: 03:00 UTC. A day without one, because no server ran, is made up for at the next start. */
const dueAtMs = 3 * 3_600_000
const dayMs = 86_400_000

/** How long after a failure the next attempt is. */
const retryMs = 3_600_000

/** How old the latest backup may be, and how long a server runs before it says that there is none. */
const oldMs = 26 * 3_600_000
const patienceMs = 3_600_000
/** The same of a server that makes none by itself, before it says that nobody has ever made one. */
const patienceWithoutMs = 2 * dayMs

/** The backups that servers make by themselves. What is wrong with them is kept in memory, for `readConditions`. */
export type DailyBackups = {
  /** How many are kept. Null: the server makes none, and only notices when nobody has ever made one. */
  readonly keep: number | null
  readonly trouble: () => { readonly name: 'backup_failed' | 'backup_missing'; readonly sentence: string } | null
  readonly noticed: (facts: Partial<Facts>) => void
  readonly failedAt: () => number | null
}

type Facts = {
  /** Epoch milliseconds of the last failure of this server, and why; null after a good backup. */
  readonly failed: { readonly at: number; readonly problems: readonly string[] } | null
  /** Whether the latest backup by any server or command is too old, or there is none. */
  readonly isMissing: boolean
}

export const createDailyBackups = ({ keep }: Pick<DailyBackups, 'keep'>): DailyBackups => {
  let facts: Facts = { failed: null, isMissing: false }
  return {
    keep,
    noticed: (more) => void (facts = { ...facts, ...more }),
    failedAt: () => facts.failed?.at ?? null,
    trouble: () => {
      if (facts.failed !== null) {
        const why = facts.failed.problems.join(' ')
        return { name: 'backup_failed', sentence: `The daily backup failed: ${why} It is tried again within the hour.` }
      }
      return facts.isMissing
        ? { name: 'backup_missing', sentence: keep === null ? neverSentence : missingSentence }
        : null
    },
  }
}

const missingSentence =
  'No backup was made in the last 26 hours, although BACKUP_DIRECTORY is set: see Desk → Backups and the log of the server that leads.'

const neverSentence =
  'No backup was ever made: set BACKUP_DIRECTORY, or run app-platform backup every day as app-platform help backup-and-restore shows. ' +
  'If something else backs up this database, set BACKUP_DIRECTORY=none.'

/** The last moment at which a backup was due. */
export const lastDue = (now: number): number => Math.floor((now - dueAtMs) / dayMs) * dayMs + dueAtMs

/**
 * Makes the backup of the day if it is due, and waits for it. Of several servers the one that leads makes it; each of them notices
 * whether it is missing.
 */
export const backUpDaily = async (
  platform: Platform & { readonly dailyBackups: DailyBackups },
  { startedAt, failed }: { readonly startedAt: number; readonly failed: (problems: readonly string[]) => void },
): Promise<void> => {
  const { database, dailyBackups: daily } = platform
  const { keep } = daily
  if (keep === null) {
    const isLate = platform.clock.now() - startedAt > patienceWithoutMs
    daily.noticed({ isMissing: isLate && (await latestBackupAt(platform)) === null })
    return
  }
  if (database.backups === null) return
  const now = platform.clock.now()
  if (database.leads() && database.health().writable && (await isDue(platform, daily, now))) {
    const problems = await backUp(platform, keep).catch((error: unknown) => {
      daily.noticed({ failed: { at: platform.clock.now(), problems: ['The server log says why.'] } })
      throw error
    })
    daily.noticed({ failed: problems === null ? null : { at: platform.clock.now(), problems } })
    if (problems !== null) failed(problems)
  }
  const latest = await latestBackupAt(platform)
  const isOld = latest === null || platform.clock.now() - latest > oldMs
  daily.noticed({ isMissing: isOld && platform.clock.now() - startedAt > patienceMs })
}

/** A folder without a backup gets one at once; so does that of a server which begins to lead. */
const isDue = async (platform: Platform, daily: DailyBackups, now: number): Promise<boolean> => {
  const failedAt = daily.failedAt()
  if (failedAt !== null) return Math.abs(now - failedAt) >= retryMs
  const [newest] = platform.database.backups?.list() ?? []
  if (newest === undefined) return true
  const others = platform.database.cluster === null ? null : await latestBackupAt(platform)
  return Math.max(newest.madeAt, others ?? 0) < lastDue(now)
}

const latestBackupAt = async ({ database }: Platform): Promise<number | null> => {
  const recorded = await database.queries.watermarks.find('backed_up')
  const [newest] = database.backups?.list() ?? []
  return newest === undefined ? recorded : Math.max(newest.madeAt, recorded ?? 0)
}

/** What went wrong, in plain sentences; null if nothing did. Another backup or check that goes on is no fault: the next look is soon. */
const backUp = async (platform: Platform, keep: number): Promise<readonly string[] | null> => {
  const { backups } = platform.database
  if (backups === null || backups.work() !== null) return null
  const session = [platform, localTrace(platform), system] as const
  const lack = lackOfRoom(platform)
  if (lack !== null) {
    await decide(platform, session[1], { actor: system }, async ({ record }) => {
      await record({ action: 'database.backup_failed' })
    })
    return [lack]
  }
  const { finished } = await startBackup(...session, { server: platform, keep })
  await finished
  const problems = backups.outcomes()[0]?.problems ?? []
  return problems.length === 0 ? null : problems
}
