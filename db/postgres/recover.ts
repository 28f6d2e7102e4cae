import { keyOfUuidTime } from '../../src/domain/identifier.ts'
import { timeKeyAt } from '../../src/domain/time-key.ts'
import type { Queries, WriteEvent } from '../database.ts'
import { DatabaseUnusable } from '../database.ts'
import { createQueries } from '../queries/index.ts'
import { type Ended, emptiedTables, endedColumns } from '../restore/end-everything-issued.ts'
import { databaseNow, drizzleOver, type Selection } from './dialect.ts'
import type { Link } from './link.ts'
import { heardWithin, silenceMs } from './nodes.ts'

type Moment = { readonly now: number; readonly event: WriteEvent }

/** One transaction on a database that no server uses, with its queries. @throws DatabaseUnusable ('in_use') */
export const changeAlone = async <T>(link: Link, change: (queries: Queries) => Promise<T>): Promise<T> => {
  const send = link.send.bind(link)
  await send('BEGIN', [])
  try {
    // Keeps servers from starting until the end: they take a number first.
    await send('LOCK TABLE nodes IN EXCLUSIVE MODE', [])
    const alive = await send(`SELECT 1 FROM nodes WHERE ${heardWithin(silenceMs)}`, [])
    if (alive.rows.length > 0) {
      throw new DatabaseUnusable('in_use', 'A server is running on the PostgreSQL database: stop all of them first.')
    }
    const push = (text: string, values: unknown[]) => void send(text, values).catch(() => undefined) // then COMMIT fails
    const read = async ({ text }: Selection, values: unknown[]) => await send(text, values)
    const wire = { send, read, push, insert: notOfCommands, change: notOfCommands }
    const result = await change(createQueries(drizzleOver(wire)))
    const { command } = await send('COMMIT', [])
    if (command !== 'COMMIT') {
      throw new Error('The transaction was rolled back instead of committed.', { cause: link.failure?.error })
    }
    return result
  } catch (error) {
    if (link.isOpen) await send('ROLLBACK', [])
    throw error
  }
}

const notOfCommands = (): never => {
  throw new Error('A command issues nothing.')
}

/** As `endEverythingIssued` on SQLite. */
const endEverything = async (link: Link, at: number) => {
  /** Ends what has not ended. Returns how much of that had not expired. */
  const end = async (name: keyof typeof endedColumns): Promise<number> => {
    const { table, column, alsoSet = '' }: Ended = endedColumns[name]
    const text = `WITH all_ended AS (UPDATE ${table} SET ${column} = $1${alsoSet} WHERE ${column} IS NULL RETURNING expires_at)
      SELECT count(*) FROM all_ended WHERE expires_at > $1`
    return Number((await link.send(text, [at])).rows[0]?.[0])
  }
  await end('installSessionCodes')
  for (const table of emptiedTables) await link.send(`DELETE FROM ${table}`, [])
  return {
    appTokens: await end('appTokens'),
    grants: await end('grants'),
    sessions: await end('sessions'),
    embeddedSessions: await end('embeddedSessions'),
  }
}

/**
 * Continues with a database that has lost acknowledged changes, as after a recovery to a point in time: ends everything issued, and
 * suspends the client secrets for production, the passwords of operators and service keys. The same as `recoverSqlite`.
 */
export const recoverTables = async (link: Link, { now, event }: Moment) =>
  await changeAlone(link, async (queries) => {
    const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
    const ended = await endEverything(link, at)
    await link.send('UPDATE timelines SET lost_at = NULL', [])
    await link.send('DELETE FROM nodes', []) // one that was frozen meanwhile has keys that were deleted: its next heartbeat stops it
    const credentials = await link.send(
      `UPDATE credentials SET suspended_at = $1 FROM clients WHERE clients.id = credentials.client_id
       AND clients.environment = 'production' AND revoked_at IS NULL AND suspended_at IS NULL
       RETURNING credentials.id, clients.app_id`,
      [at],
    )
    const operators = await link.send(
      'UPDATE users SET password_suspended_at = $1 WHERE is_operator = 1 AND password_suspended_at IS NULL RETURNING id',
      [at],
    )
    const keys = await link.send(
      'UPDATE service_keys SET suspended_at = $1 WHERE revoked_at IS NULL AND suspended_at IS NULL RETURNING id',
      [at],
    )
    const suspended = {
      credentials: credentials.rows.length,
      passwords: operators.rows.length,
      serviceKeys: keys.rows.length,
    }
    await queries.watermarks.set('recovered', at)
    const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
    const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(event(moment, facts))
    await tell({ action: 'database.recovered', detail: { ended, suspended } })
    for (const [id, appId] of credentials.rows) {
      const target = { target: String(id), appId: String(appId), environment: 'production' } as const
      await tell({ action: 'credential.suspended', ...target })
    }
    for (const [id] of operators.rows) await tell({ action: 'user.password_suspended', target: String(id) })
    for (const [id] of keys.rows) await tell({ action: 'service_key.suspended', target: String(id) })
    return { at, ended, suspended }
  })

const leastAheadMs = 1_000

/**
 * Sets the trusted time back to the clock of PostgreSQL, which was once ahead. The same as `resetClock`, which says what becomes of
 * stored times. @throws DatabaseUnusable if the time is not ahead
 */
export const resetTimes = async (link: Link, { event }: Moment) =>
  await changeAlone(link, async (queries) => {
    const at = Number((await link.send(`SELECT ${databaseNow}`, [])).rows[0]?.[0])
    const aheadMs = ((await queries.watermarks.find('clock')) ?? 0) - at
    if (aheadMs < leastAheadMs) {
      const sentence =
        'The time that the PostgreSQL database trusts is not ahead of the clock of PostgreSQL: there is nothing to reset.'
      throw new DatabaseUnusable('unsupported', sentence)
    }
    const idAt = Math.max(at, ((await queries.audit.newestIdTime()) ?? 0) + 1)
    const ended = await endEverything(link, at)
    const issued = await removeFutureKeys(link, at)
    for (const table of ['nodes', 'leases', 'shared_limits']) await link.send(`DELETE FROM ${table}`, [])
    for (const table of ['hourly_counts', 'daily_users']) await link.send(`DELETE FROM ${table} WHERE hour > $1`, [at])
    const clamped = await clampTimes(link, at)
    const aheadSeconds = Math.round(aheadMs / 1000)
    const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(event({ at, idAt }, facts))
    if (Object.keys(issued).length > 0) await tell({ action: 'app_tokens.purged', detail: { issued } })
    await tell({ action: 'clock.reset', detail: { aheadSeconds, ended, clamped } })
    return { at, aheadSeconds, ended, clamped }
  })

/** Returns how many app tokens were removed, per credential. */
const removeFutureKeys = async (link: Link, at: number): Promise<Readonly<Record<string, number>>> => {
  const text = `WITH removed AS (DELETE FROM app_tokens WHERE key > $1 RETURNING credential_id)
    SELECT credential_id, count(*) FROM removed GROUP BY credential_id`
  const { rows } = await link.send(text, [timeKeyAt(at + leastAheadMs)])
  for (const table of ['sessions', 'form_tickets', 'install_session_codes', 'embedded_sessions']) {
    await link.send(`DELETE FROM ${table} WHERE key > $1`, [keyOfUuidTime(at + leastAheadMs)])
  }
  return Object.fromEntries(rows.map(([id, count]) => [String(id), Number(count)]))
}

/** Every column that holds a time in milliseconds, recognised by its name as on SQLite. */
const timeColumnsText = `SELECT table_name, column_name FROM information_schema.columns
  WHERE table_schema = current_schema() AND data_type = 'bigint' AND table_name <> 'shared_limits'
    AND column_name ~ '^at$|_(at|until|since)$'`

const clampTimes = async (link: Link, at: number): Promise<number> => {
  let clamped = 0
  for (const [table, column] of (await link.send(timeColumnsText, [])).rows) {
    const text = `UPDATE ${String(table)} SET ${String(column)} = $1 WHERE ${String(column)} > $1`
    clamped += (await link.send(text, [at])).changes
  }
  return clamped
}
