import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { assertNotOwnFile, backUp, claimName } from './backup.ts'
import { assertSound } from './check.ts'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { connectToOneFile, inCopy } from './restore.ts'
import { writeAcknowledged } from './sqlite/acknowledged.ts'
import { type Connection, connectForLooking } from './sqlite/connection.ts'
import { canonicalPath, companionsOf, syncFile, syncFolderOf } from './sqlite/files.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { assertExists, assertPlace } from './sqlite/place.ts'
import { letSignalsIn, temporaryFile } from './sqlite/temporary.ts'
import { assertServable, hasMovedIntoPostgres, intoPostgres, markedAt, type MoveMark } from './sqlite/servable.ts'
import { commitCounted, type StoppedOptions, trustedTime } from './stopped.ts'
import { momentOf } from './stopped-changes.ts'

/**
 * Marks a stopped database as moved, so that nothing uses it any more, and writes a sealed copy of it. The mark is durable before
 * the copy is written: after a kill, the database either has not moved, or the command may run again and writes the same copy.
 * @throws DatabaseUnusable if there is no database, it is outdated, linked, lacks changes or is in use, or `to` exists
 */
export const moveSqlite = async ({ file, to, migrations, now, event }: StoppedOptions & { readonly to: string }) => {
  assertExists(file)
  const database = canonicalPath(file)
  const folder = dirname(resolve(to))
  if (!existsSync(folder)) throw new DatabaseUnusable('missing', `There is no folder ${folder}: make it first.`)
  const target = canonicalPath(to)
  assertNotOwnFile(database, target)
  if (existsSync(target)) throw new DatabaseUnusable('exists', `${target} exists already and was left as it is.`)
  assertPlace(database)
  using _ = lockAgainstServers(database)
  const earlier = movedBefore(database, migrations, false)
  using connection = connectAlone(database, { allowMoved: true })
  // Checks first that a copy fits there and is sound.
  using temporary = temporaryFile(target)
  const rehearsal = temporary.path
  backUp(connection, rehearsal, { replace: false })
  await letSignalsIn()
  const movedAt = earlier ?? (await markMoved(connection, database, { now, event }))
  if (earlier === null) commitCounted(connection, database)
  rmSync(rehearsal)
  backUp(connection, rehearsal, { replace: false })
  seal(rehearsal)
  claimName(rehearsal, target)
  syncFolderOf(target)
  return { database, file: target, movedAt }
}

/** A stopped database that moves elsewhere, open for its rows. */
export type MoveSource = {
  readonly connection: Connection
  readonly movedAt: number
  /** Whether it was marked before: then an earlier move may have arrived. */
  readonly isRepeated: boolean
  /** Makes the mark durable. From then on nothing uses the database here, whatever happens to the copy. */
  mark(): void
}

/**
 * Marks a stopped database as moved, in step with a copy of its rows. `copy` reads them, the mark and its audit row among them, and
 * marks the database just before it keeps the copy. If it throws before that, the database has not moved. After a kill between the
 * two the database has moved, and the command may run again.
 * @throws DatabaseUnusable as `moveSqlite` does, and what `copy` throws
 */
export const moveElsewhere = async <T>(
  { file, migrations, now, event }: StoppedOptions,
  copy: (source: MoveSource) => Promise<T>,
): Promise<T & { readonly database: string }> => {
  assertExists(file)
  const database = canonicalPath(file)
  assertPlace(database)
  using _ = lockAgainstServers(database)
  const earlier = movedBefore(database, migrations, true)
  using connection = connectAlone(database, { allowMoved: true })
  const movedAt = earlier ?? (await markMoved(connection, database, { now, event }, intoPostgres))
  const mark = () => {
    if (earlier === null) commitCounted(connection, database)
  }
  return { ...(await copy({ connection, movedAt, isRepeated: earlier !== null, mark })), database }
}

/**
 * When the database was moved; null if it was not. Refuses an outdated or damaged one, a sealed copy, one that lacks
 * acknowledged changes, and one that was moved the other way: it would be used in two places.
 */
const movedBefore = (database: string, migrations: readonly Migration[], toPostgres: boolean): number | null => {
  if (inspectSchema(database, migrations) !== 'current') {
    const sentence = `The schema of ${database} is behind this program: run app-platform migrate.`
    throw new DatabaseUnusable('outdated', sentence)
  }
  const movedAt = markOf(database, 'moved')
  const isSameWay = movedAt !== null && wentIntoPostgres(database) === toPostgres
  if (!isSameWay) assertServable(database)
  assertSound(database, migrations, 'database')
  return movedAt
}

const wentIntoPostgres = (file: string): boolean => {
  using connection = connectForLooking(file)
  return hasMovedIntoPostgres(connection)
}

const markOf = (file: string, mark: MoveMark): number | null => {
  using connection = connectForLooking(file)
  return markedAt(connection, mark)
}

/** Begins the transaction that marks the database. */
const markMoved = async (
  connection: Connection,
  database: string,
  { now, event }: Pick<StoppedOptions, 'now' | 'event'>,
  detail?: Readonly<Record<string, unknown>>,
): Promise<number> => {
  connection.run('BEGIN EXCLUSIVE')
  const queries = createQueries(drizzle(connection))
  // The trusted time is part of the copy: an older clock on the other machine must not revive anything.
  const clock = Math.max(now, await trustedTime(queries, database))
  await queries.watermarks.set('clock', clock)
  await queries.watermarks.set('moved', clock)
  await queries.audit.insert(
    event(await momentOf(queries, clock), { action: 'database.moved', ...(detail !== undefined && { detail }) }),
  )
  return clock
}

/** Marks the copy as sealed, which `restore --move` asks for. */
const seal = (copy: string): void => {
  {
    using connection = connectToOneFile(copy)
    connection.run("UPDATE watermarks SET name = 'sealed' WHERE name = 'moved'")
  }
  syncFile(copy)
}

/**
 * Puts a sealed copy in place where there is no database yet. Ends nothing: tokens, sessions and grants stay valid. After a kill
 * there is either no database yet, and the command may run again, or the finished one.
 * @throws DatabaseUnusable if the file is not a sealed copy, is damaged or newer, or there is a database or a part of one
 */
export const restoreMoved = async ({
  file,
  sealed,
  migrations,
  now,
  event,
}: StoppedOptions & { readonly sealed: string }) => {
  const found = statSync(sealed, { throwIfNoEntry: false })
  if (found === undefined) throw new DatabaseUnusable('missing', `There is no file at ${sealed}.`)
  if (found.size === 0 || inspectSchema(sealed, migrations, 'backup') === 'empty') throw notSealed(sealed)
  assertSound(sealed, migrations, 'backup')
  const database = canonicalPath(file)
  using _ = lockAgainstServers(database)
  assertNothingThere(database)
  if (markOf(sealed, 'sealed') === null) throw notSealed(sealed)
  return await inCopy({ backup: sealed, database, migrations }, async (connection, putInPlace) => {
    connection.run('BEGIN EXCLUSIVE')
    const queries = createQueries(drizzle(connection))
    const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
    connection.run("DELETE FROM watermarks WHERE name = 'sealed'")
    await queries.watermarks.set('clock', at)
    await queries.audit.insert(event(await momentOf(queries, at), { action: 'database.moved_here' }))
    const count = commitCounted(connection, database)
    writeAcknowledged(database, { count, time: at })
    putInPlace()
    return { database, restoredAt: at }
  })
}

const assertNothingThere = (database: string): void => {
  const { wal, shm } = companionsOf(database)
  const found = [database, wal, shm, `${database}-journal`].find((path) => existsSync(path))
  if (found === undefined) return
  const sentence = `There is a database at ${found} already, and a move replaces none: move it away, or name another place with --database.`
  throw new DatabaseUnusable('exists', sentence)
}

const notSealed = (file: string) =>
  new DatabaseUnusable(
    'foreign',
    `${file} is not the sealed copy of a moved database: make one with app-platform move --to PATH, or restore a backup without --move.`,
  )
