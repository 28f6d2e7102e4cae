import { drizzle } from 'drizzle-orm/bun-sqlite'
import { type Queries, type WriteEvent } from './database.ts'
import { migrate, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { readAcknowledged, readKeptTime, writeAcknowledged } from './sqlite/acknowledged.ts'
import { type Connection, laterCount, nextCount, readCount } from './sqlite/connection.ts'
import { canonicalPath } from './sqlite/files.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { assertExists, assertPlace } from './sqlite/place.ts'

export type StoppedOptions = {
  readonly file: string
  readonly migrations: readonly Migration[]
  /** Epoch milliseconds by the machine's clock. */
  readonly now: number
  readonly event: WriteEvent
}

type Stopped = { readonly database: string; readonly connection: Connection; readonly queries: Queries }

/**
 * Brings a stopped database up to date and changes it in one transaction, with every other process kept out. The commit counts
 * as acknowledged, at the time `at`. Killed before it is durable, nothing has changed; killed after it, the command may run again.
 * @throws DatabaseUnusable if there is none, a server or command uses it, or `assertUsable` throws
 */
export const changeStopped = async <T extends { readonly at: number }>(
  { file, migrations }: StoppedOptions,
  assertUsable: (database: string) => void,
  change: (stopped: Stopped) => Promise<T>,
): Promise<T> => {
  assertExists(file)
  const database = canonicalPath(file)
  assertPlace(database)
  using _ = lockAgainstServers(database)
  assertUsable(database)
  await migrate(database, migrations)
  using connection = connectAlone(database)
  connection.run('BEGIN EXCLUSIVE')
  const changed = await change({ database, connection, queries: createQueries(drizzle(connection)) })
  writeAcknowledged(database, { count: commitCounted(connection, database), time: changed.at })
  return changed
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

/** The time of an event and that of its ID, which sorts after every earlier event even if the clock was reset. */
export const momentOf = async (queries: Queries, at: number) => ({ at, idAt: at + (await queries.audit.aheadMs()) })
