import { keyOfUuidTime } from '../src/domain/identifier.ts'
import { totpStepAt } from '../src/domain/second-factor.ts'
import { timeKeyAt } from '../src/domain/time-key.ts'
import { DatabaseUnusable, type WriteEvent } from './database.ts'
import { clampTimes } from './restore/clamp-times.ts'
import { endEverythingIssued } from './restore/end-everything-issued.ts'
import type { Connection } from './sqlite/connection.ts'
import { assertServable } from './sqlite/servable.ts'
import { changeStopped, type StoppedOptions, trustedTime } from './stopped.ts'

const leastAheadMs = 1_000

/**
 * Sets the trusted time back to the machine's clock, which was once ahead. Everything issued ends, because nobody can tell what
 * had expired. Rows that are purged by the time in their key are removed if that time is in the future, and every other stored
 * time in the future becomes now. IDs stay, because others know them; those of the audit continue after the last one, so that
 * later events sort after the earlier ones (`aheadMs` in queries/audit.ts). Returns how far the trusted time was ahead, and how many
 * stored times were in the future (`clamped`).
 * @throws DatabaseUnusable if the clock is not ahead, there is no database, or a server or command uses it
 */
export const resetClock = async (options: StoppedOptions) =>
  await changeStopped(options, assertServable, async ({ database, connection, queries }) => {
    const { now, event } = options
    const aheadMs = (await trustedTime(queries, database)) - now
    if (aheadMs < leastAheadMs) {
      const sentence = `The time that ${database} trusts is not ahead of the machine's clock: there is nothing to reset.`
      throw new DatabaseUnusable('unsupported', sentence)
    }
    const idAt = Math.max(now, ((await queries.audit.newestIdTime()) ?? 0) + 1)
    const ended = endEverythingIssued(connection, now)
    const issued = removeFutureKeys(connection, now)
    removeFutureCounts(connection, now)
    // Otherwise every code of an authenticator app would be refused for as long as the clock was ahead.
    connection.run('UPDATE main.totp_keys SET last_step = min(last_step, ?)', [totpStepAt(now)])
    const clamped = clampTimes(connection, now)
    await queries.watermarks.set('clock', now)
    const aheadSeconds = Math.round(aheadMs / 1000)
    const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(event({ at: now, idAt }, facts))
    if (Object.keys(issued).length > 0) await tell({ action: 'app_tokens.purged', detail: { issued } })
    await tell({ action: 'clock.reset', detail: { aheadSeconds, ended, clamped } })
    return { database, at: now, aheadSeconds, ended, clamped }
  })

/** What was counted while the clock was ahead. The rows that are still there are counted again as time reaches their keys. */
const removeFutureCounts = (connection: Connection, now: number): void => {
  connection.run('DELETE FROM main.hourly_counts WHERE hour > ?', [now])
  connection.run('DELETE FROM main.daily_users WHERE hour > ?', [now])
}

/**
 * The purge finds these rows by the time in their key, so it would keep them for as long as the clock was ahead. Returns how many
 * app tokens were removed, per credential.
 */
const removeFutureKeys = (connection: Connection, now: number): Readonly<Record<string, number>> => {
  const [lowest, lowestTimeKey] = [keyOfUuidTime(now + leastAheadMs), timeKeyAt(now + leastAheadMs)]
  const perCredential = connection.rows<{ id: string; rows: number }>(
    'SELECT credential_id AS id, count(*) AS rows FROM app_tokens WHERE key > ? GROUP BY credential_id',
    lowestTimeKey,
  )
  const issued = Object.fromEntries(perCredential.map(({ id, rows }) => [id, rows]))
  connection.run('DELETE FROM main.app_tokens WHERE key > ?', [lowestTimeKey])
  for (const table of ['sessions', 'form_tickets', 'install_session_codes', 'embedded_sessions']) {
    connection.run(`DELETE FROM main.${table} WHERE key > ?`, [lowest])
  }
  return issued
}
