import { existsSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { keyOfUuidTime } from '../src/domain/identifier.ts'
import { DatabaseUnusable, type WriteEvent } from './database.ts'
import { migrate, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { clampTimes } from './restore/clamp-times.ts'
import { type EndedByRestore, endEverythingIssued } from './restore/end-everything-issued.ts'
import { assertServable } from './sqlite/servable.ts'
import { readAcknowledged, readKeptTime, writeAcknowledged } from './sqlite/acknowledged.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { type Connection, laterCount, nextCount, readCount } from './sqlite/connection.ts'
import { assertPlace } from './sqlite/place.ts'
import { canonicalPath } from './sqlite/files.ts'

type ResetOptions = {
  readonly file: string
  readonly migrations: readonly Migration[]
  /** Epoch milliseconds by the machine's clock, which is right. */
  readonly now: number
  readonly event: WriteEvent
}

export type ClockReset = {
  readonly database: string
  readonly at: number
  /** How far the trusted time was ahead. */
  readonly aheadSeconds: number
  readonly ended: EndedByRestore
  /** Stored moments that lay in the future. */
  readonly clamped: number
}

const leastAheadMs = 1_000

/**
 * Takes the trusted time back to the machine's clock, after that was once ahead. Everything issued ends, because nobody can
 * tell what had expired; rows that are purged by the time in their key go, where that time lies in the future; every other
 * stored moment of the future becomes now. IDs stay: they are known elsewhere. Those of the audit go on from the last one, so
 * that later events sort after the earlier ones (`aheadMs` in queries/audit.ts). One transaction; the time beside the database
 * follows, so a command that was killed may be run again.
 * @throws DatabaseUnusable when the clock is not ahead, there is no database, or a server or command uses it
 */
export const resetClock = async ({ file, migrations, now, event }: ResetOptions): Promise<ClockReset> => {
  if (!existsSync(file)) throw new DatabaseUnusable('missing', `There is no database at ${file}.`)
  const database = canonicalPath(file)
  assertPlace(database)
  const lock = lockAgainstServers(database)
  try {
    assertServable(database)
    await migrate(database, migrations)
    const connection = connectAlone(database)
    try {
      connection.run('BEGIN EXCLUSIVE')
      const queries = createQueries(drizzle(connection))
      const trusted = Math.max((await queries.watermarks.find('clock')) ?? 0, readKeptTime(database) ?? 0)
      if (trusted - now < leastAheadMs) {
        const sentence = `The time that ${database} trusts is not ahead of the machine's clock: there is nothing to reset.`
        throw new DatabaseUnusable('unsupported', sentence)
      }
      const idAt = Math.max(now, ((await queries.audit.newestIdTime()) ?? 0) + 1)
      const ended = endEverythingIssued(connection, now)
      const issued = removeFutureKeys(connection, now)
      const clamped = clampTimes(connection, now)
      await queries.watermarks.set('clock', now)
      const aheadSeconds = Math.round((trusted - now) / 1000)
      const tell = async (facts: Parameters<WriteEvent>[1]) =>
        await queries.audit.insert(event({ at: now, idAt }, facts))
      if (Object.keys(issued).length > 0) await tell({ action: 'app_tokens.purged', detail: { issued } })
      await tell({ action: 'clock.reset', detail: { aheadSeconds, ended, clamped } })
      const counted = readCount(connection)
      const count = nextCount(laterCount(counted, readAcknowledged(database) ?? counted))
      connection.run(`PRAGMA main.user_version = ${count}`)
      connection.run('COMMIT')
      writeAcknowledged(database, { count, time: now })
      return { database, at: now, aheadSeconds, ended, clamped }
    } finally {
      connection.close()
    }
  } finally {
    lock.release()
  }
}

/** The purge finds these rows by the time in their key, and would leave them for as long as the clock was ahead. Gives app tokens per credential. */
const removeFutureKeys = (connection: Connection, now: number): Readonly<Record<string, number>> => {
  const lowest = keyOfUuidTime(now + leastAheadMs)
  using statement = connection.prepare<{ id: string; rows: number }, [string]>(
    'SELECT credential_id AS id, count(*) AS rows FROM app_tokens WHERE key > ? GROUP BY credential_id',
  )
  const issued = Object.fromEntries(statement.all(lowest).map(({ id, rows }) => [id, rows]))
  for (const table of ['app_tokens', 'sessions', 'form_tickets', 'install_session_codes', 'embedded_sessions']) {
    connection.run(`DELETE FROM main.${table} WHERE key > ?`, [lowest])
  }
  return issued
}
