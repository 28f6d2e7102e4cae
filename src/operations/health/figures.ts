import type { LiveCount } from '../../../db/database.ts'
import { uuidTimeOfKey } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import type { Figures } from '../../runtime/metrics.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { clockOffsetMs } from '../clock.ts'
import type { Observed, Platform, Trace } from '../platform.ts'
import { type Condition, conditionNames, readConditions } from './conditions.ts'

/** Deliveries that are counted at most. */
const mostDeliveries = 10_000

/** Reads the figures that cost little, however large the store is. What a failed store does not say is null. */
export const readFigures = async (platform: Observed): Promise<Figures> => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  const holding = new Set((await readConditions(platform)).map(({ name }) => name))
  const disabled = await known(q.webhookEndpoints.countDisabled())
  return {
    ...database.statistics(),
    sqliteVersion: (await known(q.health.sqliteVersion())) ?? '',
    clockOffsetSeconds: clockOffsetMs(clock) / 1000,
    purgeLagSeconds: await known(purgeLagSeconds(platform)),
    backupAgeSeconds: await known(backupAgeSeconds(platform)),
    dueDeliveries: await known(q.webhookEndpoints.countDue(now, mostDeliveries)),
    disabledEndpoints: disabled ?? {},
    conditions: Object.fromEntries(conditionNames.map((name) => [name, holding.has(name)])),
  }
}

/** A monitor must learn that the store has failed, also when the store answers nothing. */
const known = async <T>(asked: Promise<T>): Promise<T | null> => await asked.catch(() => null)

/** How the server is, for an operator: what the metrics say, and more that is counted. */
export type PlatformHealth = Omit<Figures, 'conditions'> & {
  /** What a person has to do something about. */
  readonly conditions: readonly Condition[]
  readonly live: { readonly appTokens: LiveCount; readonly sessions: LiveCount; readonly grants: LiveCount }
  /** The stored files of all apps, those that no version uses any more included, and what one app may keep. */
  readonly artifacts: { readonly files: number; readonly bytes: number; readonly allowedBytesPerApp: number }
  /** Epoch milliseconds of the last restore from a backup; null when there was none. */
  readonly restoredAt: number | null
}

/** Rows that a count looks at: some milliseconds, also where there are millions. */
const mostRows = 10_000

/** Reads the figures that cost little, however large the store is. */
export const readHealth = async (platform: Platform): Promise<PlatformHealth> => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  return {
    ...(await readFigures(platform)),
    conditions: await readConditions(platform),
    live: {
      appTokens: await q.health.liveAppTokens(now, mostRows),
      sessions: await q.health.liveSessions(now, mostRows, now - platform.lifetimes.sessionIdle * 1000),
      grants: await q.health.liveGrants(now, mostRows),
    },
    artifacts: { ...(await q.artifacts.totals()), allowedBytesPerApp: platform.quotas.artifactBytes },
    restoredAt: await q.watermarks.find('restored'),
  }
}

/** How long ago the last backup was made, in whole seconds; null when none was. One read by key. */
export const backupAgeSeconds = async ({ database, clock }: Observed): Promise<number | null> => {
  const at = await database.queries.watermarks.find('backed_up')
  return at === null ? null : Math.max(0, Math.floor((clock.now() - at) / 1000))
}

/** Keeps in the database when the last backup was made, for the health page and the metrics, and who made it. */
export const recordBackup = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  sizeBytes: number,
): Promise<void> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  await platform.database.transaction(async (q) => {
    await q.watermarks.set('backed_up', now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'database.backed_up', detail: { sizeBytes } }))
  })
}

/**
 * For how long the oldest app token or session that should be gone has been due, in whole seconds; 0 when the purge
 * has kept up. Two reads of the first key.
 */
export const purgeLagSeconds = async (platform: Observed): Promise<number> => {
  const q = platform.database.queries
  const now = platform.clock.purgeBefore()
  const overdue = (key: string | null, lifetimeSeconds: number) =>
    key === null ? 0 : Math.max(0, Math.floor((now - uuidTimeOfKey(key)) / 1000) - lifetimeSeconds)
  return Math.max(
    overdue(await q.appTokens.oldestKey(), maximumLifetimes.appToken),
    overdue(await q.sessions.oldestKey(), maximumLifetimes.session),
  )
}
