import { uuidTimeOfKey } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { timeOfKey } from '../../domain/time-key.ts'
import type { Figures } from '../../runtime/metrics.ts'
import { clockOffsetMs } from '../clock.ts'
import type { Observed, Platform } from '../platform.ts'
import { conditionNames, readConditions } from './conditions.ts'
import { decide, type Operation } from '../decide.ts'

/** Due deliveries and waiting mails are counted up to this number. */
const mostDeliveries = 10_000

/** Reads the figures of the metrics. Each is cheap, however large the store is. A figure that cannot be read is null. */
export const readFigures = async (platform: Observed): Promise<Figures> => {
  const { database, clock, mailer } = platform
  const q = database.queries
  const now = clock.now()
  const holding = new Set((await readConditions(platform)).map(({ name }) => name))
  const disabled = await known(q.webhookEndpoints.countDisabled())
  const sharing = database.sharing()
  return {
    ...database.statistics(),
    nodes: sharing?.nodes.length ?? null,
    leads: database.leads(),
    databaseClockOffsetSeconds: sharing === null ? null : sharing.clockOffsetMs / 1000,
    engineVersion: (await known(q.health.engineVersion())) ?? '',
    clockOffsetSeconds: clockOffsetMs(clock) / 1000,
    purgeLagSeconds: await known(purgeLagSeconds(platform)),
    backupAgeSeconds: await known(backupAgeSeconds(platform)),
    dueDeliveries: await known(q.webhookEndpoints.countDue(now, mostDeliveries)),
    mailsWaiting: mailer === null ? null : await known(q.mails.countWaiting(mostDeliveries)),
    disabledEndpoints: disabled ?? {},
    conditions: Object.fromEntries(conditionNames.map((name) => [name, holding.has(name)])),
  }
}

/** Metrics must be served even when the store has failed and answers nothing. */
const known = async <T>(asked: Promise<T>): Promise<T | null> => await asked.catch(() => null)

/** What the health page shows: the figures of the metrics and further counts. */
export type PlatformHealth = Awaited<ReturnType<typeof readHealth>>

/** A count reads up to this many rows, which takes some milliseconds even when there are millions. */
const mostRows = 10_000

/** Reads what the health page shows. Every read is bounded. */
export const readHealth = async (platform: Platform) => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  return {
    ...(await readFigures(platform)),
    /** The servers that share the database; empty where there is one. */
    sharedBy: database.sharing()?.nodes ?? [],
    /** Problems that a person has to solve. */
    conditions: await readConditions(platform),
    live: {
      appTokens: await q.health.liveAppTokens(now, mostRows),
      sessions: await q.health.liveSessions(now, mostRows, now - platform.lifetimes.sessionIdle * 1000),
      grants: await q.health.liveGrants(now, mostRows),
    },
    /** The stored files of all apps, including those that no version uses any more, and the limit of one app. */
    artifacts: { ...(await q.artifacts.totals()), allowedBytesPerApp: platform.quotas.artifactBytes },
    /** Epoch milliseconds of the last restore from a backup; null when there was none. */
    restoredAt: await q.watermarks.find('restored'),
  }
}

/** How long ago the last backup was made, in whole seconds; null when there is none. */
const backupAgeSeconds = async ({ database, clock }: Pick<Observed, 'database' | 'clock'>): Promise<number | null> => {
  const at = await database.queries.watermarks.find('backed_up')
  return at === null ? null : Math.max(0, Math.floor((clock.now() - at) / 1000))
}

/** Stores when the last backup was made, for the health page and the metrics, and who made it. */
export const recordBackup: Operation<number, void> = async (platform, trace, actor, sizeBytes) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    await q.watermarks.set('backed_up', now)
    await record({ action: 'database.backed_up', detail: { sizeBytes } })
  })

/**
 * For how many whole seconds the oldest expired app token or session has been waiting for the purge; 0 when the purge is
 * up to date. Reads two keys.
 */
export const purgeLagSeconds = async (platform: Pick<Observed, 'database' | 'clock'>): Promise<number> => {
  const q = platform.database.queries
  const now = platform.clock.purgeBefore()
  const overdue = (issuedAt: number, lifetimeSeconds: number) =>
    Math.max(0, Math.floor((now - issuedAt) / 1000) - lifetimeSeconds)
  const [token, session] = [await q.appTokens.oldestKey(), await q.sessions.oldestKey()]
  return Math.max(
    overdue(token === null ? now : timeOfKey(token), maximumLifetimes.appToken),
    overdue(session === null ? now : uuidTimeOfKey(session), maximumLifetimes.session),
  )
}
