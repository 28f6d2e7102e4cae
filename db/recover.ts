import { existsSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { type AuditEvent, DatabaseUnusable, type WriteEvent } from './database.ts'
import { migrate, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { type EndedByRestore, endEverythingIssued } from './restore/end-everything-issued.ts'
import { readAcknowledged, readKeptTime, writeAcknowledged } from './sqlite/acknowledged.ts'
import { connectForLooking, type Connection, laterCount, nextCount, readCount } from './sqlite/connection.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { assertNotMoved, assertOwnWal } from './sqlite/servable.ts'
import { assertPlace } from './sqlite/place.ts'
import { canonicalPath } from './sqlite/files.ts'

type RecoverOptions = {
  readonly file: string
  readonly migrations: readonly Migration[]
  /** Epoch milliseconds by the machine's clock. */
  readonly now: number
  readonly event: WriteEvent
}

export type Recovered = {
  readonly at: number
  readonly ended: EndedByRestore
  /** What waits for the confirmation of an operator. */
  readonly suspended: { readonly credentials: number; readonly passwords: number }
}

/**
 * Goes on with a database that has lost acknowledged changes, or may have. What was revoked may be in force again, and
 * nobody can tell what: so everything issued ends, and the secrets and passwords that reach furthest, client secrets for
 * production and the passwords of operators, wait for an operator's confirmation. One transaction; killed before it is
 * durable nothing has changed, killed after it the command may be run again.
 * @throws DatabaseUnusable when there is none, it is damaged, moved or linked, or while a server or command uses it
 */
export const recoverSqlite = async ({ file, migrations, now, event }: RecoverOptions): Promise<Recovered> => {
  if (!existsSync(file)) throw new DatabaseUnusable('missing', `There is no database at ${file}.`)
  const database = canonicalPath(file)
  assertPlace(database)
  const lock = lockAgainstServers(database)
  try {
    assertServedHere(database)
    await migrate(database, migrations)
    const connection = connectAlone(database)
    try {
      assertWhole(connection, database)
      connection.run('BEGIN EXCLUSIVE')
      const queries = createQueries(drizzle(connection))
      const kept = [await queries.watermarks.find('clock'), readKeptTime(database)].filter((time) => time !== null)
      const at = Math.max(now, ...kept)
      const ended = endEverythingIssued(connection, at)
      const credentials = suspendCredentials(connection, at)
      const operators = suspendPasswords(connection, at)
      const suspended = { credentials: credentials.length, passwords: operators.length }
      await queries.watermarks.set('recovered', at)
      const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
      const tell = async (facts: Parameters<WriteEvent>[1]) => await queries.audit.insert(event(moment, facts))
      await tell({ action: 'database.recovered', detail: { ended, suspended } })
      for (const target of credentials) await tell({ action: 'credential.suspended', ...target })
      for (const target of operators) await tell({ action: 'user.password_suspended', target })
      const counted = readCount(connection)
      const count = nextCount(laterCount(counted, readAcknowledged(database) ?? counted))
      connection.run(`PRAGMA main.user_version = ${count}`)
      connection.run('COMMIT')
      writeAcknowledged(database, { count, time: at })
      return { at, ended, suspended }
    } finally {
      connection.close()
    }
  } finally {
    lock.release()
  }
}

const assertServedHere = (database: string): void => {
  using connection = connectForLooking(database)
  assertOwnWal(database, connection)
  assertNotMoved(connection, database)
}

const assertWhole = (connection: Connection, database: string): void => {
  const verdict = connection.value('PRAGMA integrity_check(1)')
  if (verdict === 'ok') return
  const sentence = `${database} is damaged (${String(verdict)}): restore a backup with app-platform restore FILE.`
  throw new DatabaseUnusable('damaged', sentence)
}

type Suspended = {
  readonly target: string
  readonly appId: string
  readonly environment: NonNullable<AuditEvent['environment']>
}

/** Client secrets for production that have not ended. */
const suspendCredentials = (connection: Connection, at: number): readonly Suspended[] => {
  using statement = connection.prepare<Suspended, []>(
    `SELECT credentials.id AS target, clients.app_id AS appId, clients.environment
    FROM credentials JOIN clients ON clients.id = credentials.client_id
    WHERE clients.environment = 'production' AND revoked_at IS NULL AND suspended_at IS NULL`,
  )
  const found = statement.all()
  for (const { target } of found) connection.run('UPDATE credentials SET suspended_at = ? WHERE id = ?', [at, target])
  return found
}

const suspendPasswords = (connection: Connection, at: number): readonly string[] => {
  using statement = connection.prepare<{ id: string }, [number]>(
    'UPDATE users SET password_suspended_at = ? WHERE is_operator = 1 AND password_suspended_at IS NULL RETURNING id',
  )
  return statement.all(at).map(({ id }) => id)
}
