import { assertSound } from './check.ts'
import type { AuditEvent, WriteEvent } from './database.ts'
import { endEverythingIssued } from './restore/end-everything-issued.ts'
import { type Connection, connectForLooking } from './sqlite/connection.ts'
import { assertNotMoved, assertOwnWal } from './sqlite/servable.ts'
import { changeStopped, momentOf, type StoppedOptions, trustedTime } from './stopped.ts'

/**
 * Continues with a database that has lost acknowledged changes, or may have. A revocation may be among them, and nobody can tell
 * which. So everything issued ends, and the secrets with the widest reach wait for an operator's confirmation: client secrets
 * for production, the passwords of operators and service keys. Returns how many of each were suspended.
 * @throws DatabaseUnusable if there is none, it is damaged, moved or linked, or while a server or command uses it
 */
export const recoverSqlite = async (options: StoppedOptions) =>
  await changeStopped(options, assertRecoverable(options), async ({ database, connection, queries }) => {
    const at = Math.max(options.now, await trustedTime(queries, database))
    const ended = endEverythingIssued(connection, at)
    const credentials = suspendCredentials(connection, at)
    const operators = suspendPasswords(connection, at)
    const keys = suspendServiceKeys(connection, at)
    const suspended = { credentials: credentials.length, passwords: operators.length, serviceKeys: keys.length }
    await queries.watermarks.set('recovered', at)
    const moment = await momentOf(queries, at)
    const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(options.event(moment, facts))
    await tell({ action: 'database.recovered', detail: { ended, suspended } })
    for (const target of credentials) await tell({ action: 'credential.suspended', ...target })
    for (const target of operators) await tell({ action: 'user.password_suspended', target })
    for (const target of keys) await tell({ action: 'service_key.suspended', target })
    return { at, ended, suspended }
  })

export type Recovered = Awaited<ReturnType<typeof recoverSqlite>>

const assertRecoverable =
  ({ migrations }: StoppedOptions) =>
  (database: string): void => {
    using connection = connectForLooking(database)
    assertOwnWal(database, connection)
    assertNotMoved(connection, database)
    assertSound(database, migrations)
  }

type Suspended = {
  readonly target: string
  readonly appId: string
  readonly environment: NonNullable<AuditEvent['environment']>
}

/** Suspends the client secrets for production that have not been revoked. */
const suspendCredentials = (connection: Connection, at: number): readonly Suspended[] => {
  const found = connection.rows<Suspended>(
    `SELECT credentials.id AS target, clients.app_id AS appId, clients.environment
    FROM credentials JOIN clients ON clients.id = credentials.client_id
    WHERE clients.environment = 'production' AND revoked_at IS NULL AND suspended_at IS NULL`,
  )
  for (const { target } of found) connection.run('UPDATE credentials SET suspended_at = ? WHERE id = ?', [at, target])
  return found
}

const suspendPasswords = (connection: Connection, at: number): readonly string[] =>
  connection
    .rows<{ id: string }>(
      'UPDATE users SET password_suspended_at = ? WHERE is_operator = 1 AND password_suspended_at IS NULL RETURNING id',
      at,
    )
    .map(({ id }) => id)

const suspendServiceKeys = (connection: Connection, at: number): readonly string[] =>
  connection
    .rows<{ id: string }>(
      'UPDATE service_keys SET suspended_at = ? WHERE revoked_at IS NULL AND suspended_at IS NULL RETURNING id',
      at,
    )
    .map(({ id }) => id)
