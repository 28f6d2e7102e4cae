/*
 * What commands change in a database that no server uses, alike on both engines: each is one transaction, in SQL that both read. Its
 * texts have no values but numbers and keys of ours.
 */
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Awaitable } from '../src/domain/awaitable.ts'
import { keyOfUuidTime } from '../src/domain/identifier.ts'
import { totpStepAt } from '../src/domain/second-factor.ts'
import { timeKeyAt } from '../src/domain/time-key.ts'
import { type AuditEvent, DatabaseUnusable, type Queries, type WriteEvent } from './database.ts'
import { goneInDoubt, keyedByUuid } from './queries/lists.ts'
import * as tables from './tables/sqlite.ts'

/** The transaction of a command. */
export type Exclusive = {
  readonly queries: Queries
  rows(text: string): Awaitable<readonly (readonly unknown[])[]>
}

/** How much of what ended had not expired. */
export type EndedIssued = Readonly<Record<'appTokens' | 'grants' | 'sessions' | 'embeddedSessions', number>>

/**
 * Ends every app token, session and grant, with its grant every code and token of it, and every code and session of a
 * frame. The rows stay, as the record of what was issued. What could have been used since is removed, and the server's keys: the next
 * start makes new ones, so that nothing that was signed with the old ones is valid. Returns how much of what ended had not expired.
 */
export const endEverythingIssued = async ({ rows }: Pick<Exclusive, 'rows'>, at: number): Promise<EndedIssued> => {
  const end = async (table: string, column: string, alsoSet = ''): Promise<number> => {
    const ended = await rows(
      `UPDATE ${table} SET ${column} = ${at}${alsoSet} WHERE ${column} IS NULL RETURNING expires_at > ${at}`,
    )
    return ended.filter(([wasAlive]) => Boolean(wasAlive)).length
  }
  await end('install_session_codes', 'spent_at')
  for (const table of ['server_keys', ...goneInDoubt]) await rows(`DELETE FROM ${table}`)
  const noRetry = ', retry_key = NULL, retry_salt = NULL, retry_fingerprint = NULL, retry_until = NULL'
  return {
    appTokens: await end('app_tokens', 'revoked_at'),
    grants: await end('grants', 'revoked_at', noRetry),
    sessions: await end('sessions', 'ended_at'),
    embeddedSessions: await end('embedded_sessions', 'ended_at'),
  }
}

/** Every column that holds a time, recognised by its name. A test compares this rule with the schema. */
export const timeColumns = Object.values<SQLiteTable>(tables).flatMap((table) =>
  Object.values(getTableColumns(table))
    .filter(({ name, dataType }) => dataType === 'number' && /^at$|_(?:at|until|since)$/.test(name))
    .map(({ name }) => ({ table: getTableName(table), column: name })),
)

/** Sets every stored time after `at` back to `at`, and returns how many there were. */
export const clampTimes = async ({ rows }: Pick<Exclusive, 'rows'>, at: number): Promise<number> => {
  let clamped = 0
  for (const { table, column } of timeColumns)
    clamped += (await rows(`UPDATE ${table} SET ${column} = ${at} WHERE ${column} > ${at} RETURNING 1`)).length
  return clamped
}

/**
 * Continues with a database that has lost acknowledged changes, or may have. A revocation may be among them, and nobody can tell
 * which. So everything issued ends, and the secrets with the widest reach wait for an operator's confirmation: client secrets
 * for production, operators, who cannot sign in in any way, and service keys. Returns how many of each were suspended.
 */
export const recoverRows = async (exclusive: Exclusive, { at, event }: { at: number; event: WriteEvent }) => {
  const { queries, rows } = exclusive
  const ended = await endEverythingIssued(exclusive, at)
  const credentials = await rows(
    `UPDATE credentials SET suspended_at = ${at} FROM clients WHERE clients.id = credentials.client_id
     AND clients.environment = 'production' AND revoked_at IS NULL AND suspended_at IS NULL
     RETURNING credentials.id, (SELECT app_id FROM clients WHERE clients.id = credentials.client_id)`,
  )
  const operators = await rows(
    `UPDATE users SET suspended_at = ${at} WHERE is_operator = 1 AND suspended_at IS NULL RETURNING id`,
  )
  const keys = await rows(
    `UPDATE service_keys SET suspended_at = ${at} WHERE revoked_at IS NULL AND suspended_at IS NULL RETURNING id`,
  )
  const suspended = { credentials: credentials.length, operators: operators.length, serviceKeys: keys.length }
  await queries.watermarks.set('recovered', at)
  const moment = await momentOf(queries, at)
  const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(event(moment, facts))
  await tell({ action: 'database.recovered', detail: { ended, suspended } })
  for (const [id, appId] of credentials) {
    const target = { target: String(id), appId: String(appId), environment: 'production' } as const
    await tell({ action: 'credential.suspended', ...target })
  }
  for (const [id] of operators) await tell({ action: 'user.suspended', target: String(id) })
  for (const [id] of keys) await tell({ action: 'service_key.suspended', target: String(id) })
  return { at, ended, suspended }
}

export type Recovered = Awaited<ReturnType<typeof recoverRows>>

/** The time of an event and that of its ID, which sorts after every earlier event even if the clock was reset. */
export const momentOf = async (queries: Queries, at: number): Promise<{ at: number; idAt: number }> => ({
  at,
  idAt: at + (await queries.audit.aheadMs()),
})

const leastAheadMs = 1_000

/**
 * Sets the trusted time back to a clock that was once ahead. Everything issued ends, because nobody can tell what had expired. Rows
 * that are purged by the time in their key are removed if that time is in the future, and every other stored time in the future becomes
 * now. IDs stay, because others know them; those of the audit continue after the last one, so that later events sort after the earlier
 * ones (`aheadMs` in queries/audit.ts). Returns how far the trusted time was ahead, and how many stored times were in the future.
 * @throws DatabaseUnusable if the time is not ahead
 */
export const resetTimes = async (
  exclusive: Exclusive,
  { at, trusted, whose, event }: { at: number; trusted: number; whose: string; event: WriteEvent },
) => {
  const { queries, rows } = exclusive
  if (trusted - at < leastAheadMs) throw new DatabaseUnusable('unsupported', `${whose}: there is nothing to reset.`)
  const idAt = Math.max(at, ((await queries.audit.newestIdTime()) ?? 0) + 1)
  const ended = await endEverythingIssued(exclusive, at)
  // The purge finds these rows by the time in their key, so it would keep them for as long as the clock was ahead.
  const lowest = keyOfUuidTime(at + leastAheadMs)
  const removed = await rows(
    `DELETE FROM app_tokens WHERE key > ${timeKeyAt(at + leastAheadMs)} RETURNING credential_id`,
  )
  for (const { table, column } of keyedByUuid) await rows(`DELETE FROM ${table} WHERE ${column} > '${lowest}'`)
  // What was counted while the clock was ahead. The rows that are still there are counted again as time reaches their keys.
  for (const table of ['hourly_counts', 'daily_users']) await rows(`DELETE FROM ${table} WHERE hour > ${at}`)
  // Otherwise every code of an authenticator app would be refused for as long as the clock was ahead. Now that of this moment works.
  await rows(`UPDATE totp_keys SET last_step = ${totpStepAt(at) - 2} WHERE last_step > ${totpStepAt(at) + 1}`)
  const clamped = await clampTimes(exclusive, at)
  const aheadSeconds = Math.round((trusted - at) / 1000)
  const issued: Record<string, number> = {}
  for (const [id] of removed) issued[String(id)] = (issued[String(id)] ?? 0) + 1
  const tell = async (facts: Parameters<WriteEvent>[1]): Promise<void> =>
    void (await queries.audit.insert(event({ at, idAt }, facts) satisfies AuditEvent))
  if (removed.length > 0) await tell({ action: 'app_tokens.purged', detail: { issued } })
  await tell({ action: 'clock.reset', detail: { aheadSeconds, ended, clamped } })
  return { at, aheadSeconds, ended, clamped }
}
