import { drizzle } from 'drizzle-orm/bun-sqlite'
import { assertSound } from './check.ts'
import { type Queries, type WriteEvent } from './database.ts'
import { migrate, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { readAcknowledged, readKeptTime, writeAcknowledged } from './sqlite/acknowledged.ts'
import { type Connection, connectForLooking, laterCount, nextCount, readCount } from './sqlite/connection.ts'
import { canonicalPath } from './sqlite/files.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { assertExists, assertPlace } from './sqlite/place.ts'
import { withPlace } from './faults/system.ts'
import { assertNotMoved, assertOwnWal, assertServable } from './sqlite/servable.ts'
import { type Exclusive, recoverRows, resetTimes } from './stopped-changes.ts'

export type StoppedOptions = {
  readonly file: string
  readonly migrations: readonly Migration[]
  /** Epoch milliseconds by the machine's clock. */
  readonly now: number
  readonly event: WriteEvent
}

type Stopped = Exclusive & { readonly database: string }

/**
 * Brings a stopped database up to date and changes it in one transaction, with every other process kept out. The commit counts
 * as acknowledged, at the time `at`. Killed before it is durable, nothing has changed; killed after it, the command may run again.
 * @throws DatabaseUnusable if there is none, a server or command uses it, or `assertUsable` throws
 */
const changeStopped = async <T extends { readonly at: number }>(
  { file, migrations }: StoppedOptions,
  assertUsable: (database: string) => void,
  change: (stopped: Stopped) => Promise<T>,
): Promise<T> => {
  assertExists(file)
  const database = canonicalPath(file)
  assertPlace(database)
  using _ = lockAgainstServers(database)
  try {
    assertUsable(database)
    await migrate(database, migrations)
    using connection = connectAlone(database)
    connection.run('BEGIN EXCLUSIVE')
    const changed = await change({ database, ...exclusiveOn(connection) })
    writeAcknowledged(database, { count: commitCounted(connection, database), time: changed.at })
    return changed
  } catch (error) {
    throw withPlace(database, error)
  }
}

/**
 * Commits, and returns the count of commits. It is later than the count of the database and the one beside it, so that nothing
 * that was acknowledged before counts as missing.
 */
export const commitCounted = (connection: Connection, database: string): number => {
  const counted = readCount(connection)
  const count = nextCount(laterCount(counted, readAcknowledged(database) ?? counted))
  connection.run(`PRAGMA main.user_version = ${count}`)
  connection.run('COMMIT')
  return count
}

/** The latest time that the database or the file beside it has kept; 0 if none. An older clock must not revive anything. */
export const trustedTime = async (queries: Queries, database: string): Promise<number> =>
  Math.max((await queries.watermarks.find('clock')) ?? 0, readKeptTime(database) ?? 0)

/** The transaction of a command, which is under way on this connection. */
export const exclusiveOn = (connection: Connection): Exclusive => ({
  queries: createQueries(drizzle(connection)),
  rows: (text) => {
    using statement = connection.prepare<unknown, []>(text)
    return statement.values() as unknown[][]
  },
})

/** As `recoverRows` says. @throws DatabaseUnusable if there is none, it is damaged, moved or linked, or while a server or command uses it */
export const recoverSqlite = async (options: StoppedOptions) => {
  const assertRecoverable = (database: string): void => {
    using connection = connectForLooking(database)
    assertOwnWal(database, connection)
    assertNotMoved(connection, database)
    assertSound(database, options.migrations, 'database')
  }
  return await changeStopped(options, assertRecoverable, async ({ database, ...exclusive }) => {
    const at = Math.max(options.now, await trustedTime(exclusive.queries, database))
    return await recoverRows(exclusive, { at, event: options.event })
  })
}

/** As `resetTimes` says, back to the machine's clock. @throws DatabaseUnusable if there is none, or a server or command uses it */
export const resetClock = async (options: StoppedOptions) =>
  await changeStopped(options, assertServable, async ({ database, ...exclusive }) => {
    const trusted = await trustedTime(exclusive.queries, database)
    const whose = `The time that ${database} trusts is not ahead of the machine's clock`
    return await resetTimes(exclusive, { at: options.now, trusted, whose, event: options.event })
  })
