import type { AuditAction } from '../../domain/audit-action.ts'
import { type Backups, DatabaseUnusable } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { bytesInWords } from '../../domain/text.ts'
import type { Actor } from '../audit/event.ts'
import { badInput, decide, type Operation } from '../decide.ts'
import { recordBackup } from '../health/health.ts'
import type { Platform, Trace } from '../platform.ts'

/** How many backups a server can be asked to keep. */
export const keptBackups = { least: 1, most: 1_000, default: 14 } as const

/** What must stay free on the disk beside a copy, so that the server can go on writing. */
const spareBytes = 64 * 1024 ** 2

/** The platform of the server, beside that of the person who asks: the work goes on after their session. */
type Server = { readonly server: Platform }

/** Work that has begun. `finished` rejects when it failed in a way that no sentence explains. */
export type BegunWork = { readonly name: string; readonly finished: Promise<void> }

/**
 * Begins a backup in the folder of the server and returns while it is made. The copy is checked; if nothing is wrong with it,
 * it is recorded, and all but the newest `keep` backups are removed. Otherwise it is set aside, and nothing is removed.
 * @throws invalid_request for another number to keep; version_not_eligible on PostgreSQL, while other work goes on, or
 *   without enough free space
 */
export const startBackup: Operation<Server & { readonly keep: number }, BegunWork> = async (
  platform,
  trace,
  actor,
  { server, keep },
) => {
  if (!(Number.isInteger(keep) && keep >= keptBackups.least && keep <= keptBackups.most)) {
    throw badInput('keep', `Enter a number from ${keptBackups.least} to ${keptBackups.most}.`)
  }
  const backups = backupsOf(platform)
  const lack = lackOfRoom(platform)
  if (lack !== null) throw refuse('version_not_eligible', { message: lack })
  const name = begin(backups, 'backup', platform.clock.now())
  const started = { action: 'database.backup_started', detail: { keep } } as const
  await recordOrEnd(platform, trace, actor, { backups, started })
  const made = async () => await makeAndRecord(server, trace, actor, { backups, name, keep })
  const failed = async () => {
    await decide(server, trace, { actor }, async ({ record }) => await record({ action: 'database.backup_failed' }))
  }
  return { name, finished: finish(server, backups, made, failed) }
}

type Making = { readonly backups: Backups; readonly name: string; readonly keep: number }

const makeAndRecord = async (platform: Platform, trace: Trace, actor: Actor, { backups, name, keep }: Making) => {
  const problems = await backups.make(name)
  if (problems.length > 0) {
    return [...problems, `No older backup was removed. The copy was kept as ${backups.setAside(name)}.`]
  }
  await recordBackup(platform, trace, actor, backups.list().find((one) => one.name === name)?.sizeBytes ?? 0)
  backups.prune(keep, name)
  return []
}

/** Waits for the work and keeps its outcome, whatever it is. `failed` records that it did not end well. */
const finish = async (
  platform: Platform,
  backups: Backups,
  work: () => Promise<readonly string[]>,
  failed: () => Promise<void> = async () => undefined,
): Promise<void> => {
  let problems: readonly string[] = ['It failed. The server log says why.']
  try {
    problems = await work()
  } catch (error) {
    if (!(error instanceof DatabaseUnusable || error instanceof PlatformError)) throw error
    problems = [error.message]
  } finally {
    backups.end({ endedAt: platform.clock.now(), problems })
    if (problems.length > 0) await failed()
  }
}

/**
 * Begins to check a backup and returns meanwhile: this reads every page of it.
 * @throws route_not_found for an unknown name; version_not_eligible on PostgreSQL and while other work goes on
 */
export const startBackupCheck: Operation<Server & { readonly name: string }, BegunWork> = async (
  platform,
  trace,
  actor,
  { server, name },
) => {
  const backups = backupsOf(platform)
  if (!backups.list().some((one) => one.name === name)) throw refuse('route_not_found')
  begin(backups, 'check', platform.clock.now(), name)
  const started = { action: 'database.backup_checked', detail: { name } } as const
  await recordOrEnd(platform, trace, actor, { backups, started })
  return { name, finished: finish(server, backups, async () => await backups.check(name)) }
}

/** Records the begin of the work. This is where the session and the ticket of the person who asked are checked. */
const recordOrEnd: Operation<{ readonly backups: Backups; readonly started: Started }, void> = async (
  platform,
  trace,
  actor,
  { backups, started },
) => {
  try {
    await decide(platform, trace, { actor }, async ({ record }) => await record(started))
  } catch (error) {
    backups.end(null)
    throw error
  }
}
type Started = { readonly action: AuditAction; readonly detail: Readonly<Record<string, unknown>> }

const backupsOf = ({ database: { backups } }: Platform): Backups => {
  if (backups === null) throw refuse('version_not_eligible', { message: notHere })
  return backups
}

const notHere = 'This server backs up PostgreSQL only if BACKUP_DIRECTORY is set. Run app-platform backup.'

const begin = (backups: Backups, kind: 'backup' | 'check', at: number, known?: string): string => {
  const name = backups.begin(kind, at, known)
  if (name === null) throw refuse('version_not_eligible', { message: busy })
  return name
}

const busy = 'Another backup or check is running. Wait until it has ended. Nothing was started.'

/** Why the disk has no room for a backup; null if it has, or if nobody knows. */
export const lackOfRoom = ({ database }: Pick<Platform, 'database'>): string | null => {
  const { databaseBytes, walBytes } = database.statistics()
  const needed = databaseBytes + walBytes + spareBytes
  const free = database.backups?.freeBytes() ?? null
  if (free === null || free >= needed) return null
  return `A backup needs ${bytesInWords(needed)} of free space, and the disk has ${bytesInWords(free)}.`
}

/** What the desk shows about backups; null on PostgreSQL without BACKUP_DIRECTORY. */
export type BackupState = NonNullable<Awaited<ReturnType<typeof readBackups>>>

export const readBackups = async (platform: Platform) => {
  const { database } = platform
  const { backups } = database
  if (backups === null) return null
  const outcomes = backups.outcomes()
  return {
    folder: backups.folder,
    /** How many are kept of those that the server makes every day; null if it makes none by itself. */
    dailyKeep: platform.dailyBackups?.keep ?? null,
    files: backups.list().map(({ name, madeAt, sizeBytes }) => ({
      name,
      madeAt,
      sizeBytes,
      /** What its last check has found; null if it was not checked since the server started. */
      checked: outcomes.find((outcome) => outcome.name === name) ?? null,
    })),
    /** The work that goes on now. */
    work: backups.work(),
    /** How the latest backup ended; null if none ended since the server started. */
    latest: outcomes.find(({ kind }) => kind === 'backup') ?? null,
    /** Epoch milliseconds of the last backup by any program; null if there is none. */
    lastBackupAt: await database.queries.watermarks.find('backed_up'),
    databaseBytes: database.statistics().databaseBytes,
    /** Why a backup would be refused now; null if it would not. */
    lackOfRoom: lackOfRoom(platform),
  }
}
