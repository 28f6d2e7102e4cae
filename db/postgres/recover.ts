import type { Queries, WriteEvent } from '../database.ts'
import { DatabaseUnusable } from '../database.ts'
import { createQueries } from '../queries/index.ts'
import { drizzleOver } from './dialect.ts'
import type { Link } from './link.ts'
import { databaseNow } from './pulse.ts'

type Moment = { readonly now: number; readonly event: WriteEvent }

/** A server that has not been heard for so long has ended, or refuses what it reads. */
const silenceMs = 5_000

/** One transaction on a database that no server uses, with its queries. @throws DatabaseUnusable ('in_use') */
export const changeAlone = async <T>(link: Link, change: (queries: Queries) => Promise<T>): Promise<T> => {
  const send = link.send.bind(link)
  await send('BEGIN', [])
  try {
    // Keeps servers from starting until the end: they take a number first.
    await send('LOCK TABLE nodes IN EXCLUSIVE MODE', [])
    const alive = await send(`SELECT 1 FROM nodes WHERE beat_at > ${databaseNow} - ${silenceMs}`, [])
    if (alive.rows.length > 0) {
      throw new DatabaseUnusable('in_use', 'A server is running on the PostgreSQL database: stop all of them first.')
    }
    const result = await change(createQueries(drizzleOver({ writes: true, send })))
    const { command } = await send('COMMIT', [])
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back instead of committed.')
    return result
  } catch (error) {
    if (link.isOpen) await send('ROLLBACK', [])
    throw error
  }
}

/**
 * Continues with a database that has lost acknowledged changes, as after a recovery to a point in time: ends everything issued, and
 * suspends the client secrets for production and the passwords of operators. The same as `recoverSqlite`.
 */
export const recoverTables = async (link: Link, { now, event }: Moment) =>
  await changeAlone(link, async (queries) => {
    const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
    /** Ends what has not ended. Returns how much of that had not expired. */
    const end = async (table: string, ended: string, alsoSet = ''): Promise<number> => {
      const text = `WITH all_ended AS (UPDATE ${table} SET ${ended} = $1${alsoSet} WHERE ${ended} IS NULL RETURNING expires_at)
        SELECT count(*) FROM all_ended WHERE expires_at > $1`
      return Number((await link.send(text, [at])).rows[0]?.[0])
    }
    const noRetry = ', retry_key = NULL, retry_salt = NULL, retry_fingerprint = NULL, retry_until = NULL'
    await end('install_session_codes', 'spent_at')
    await link.send('DELETE FROM server_keys', [])
    await link.send('DELETE FROM devices', [])
    const ended = {
      appTokens: await end('app_tokens', 'revoked_at'),
      grants: await end('grants', 'revoked_at', noRetry),
      sessions: await end('sessions', 'ended_at'),
      embeddedSessions: await end('embedded_sessions', 'ended_at'),
    }
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
    const suspended = { credentials: credentials.rows.length, passwords: operators.rows.length }
    await queries.watermarks.set('recovered', at)
    const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
    const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(event(moment, facts))
    await tell({ action: 'database.recovered', detail: { ended, suspended } })
    for (const [id, appId] of credentials.rows) {
      const target = { target: String(id), appId: String(appId), environment: 'production' } as const
      await tell({ action: 'credential.suspended', ...target })
    }
    for (const [id] of operators.rows) await tell({ action: 'user.password_suspended', target: String(id) })
    return { at, ended, suspended }
  })
