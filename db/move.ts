import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { assertNotOwnFile, backUp, unfinishedName } from './backup.ts'
import { assertSound } from './check.ts'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, migrate } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { dropStatistics } from './restore.ts'
import { writeAcknowledged } from './sqlite/acknowledged.ts'
import { connect, Connection, connectForLooking } from './sqlite/connection.ts'
import { canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './sqlite/files.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { assertExists, assertPlace } from './sqlite/place.ts'
import { assertServable, markedAt } from './sqlite/servable.ts'
import { commitCounted, momentOf, type StoppedOptions, trustedTime } from './stopped.ts'

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
  const lock = lockAgainstServers(database)
  try {
    if (inspectSchema(database, migrations) !== 'current') {
      throw new DatabaseUnusable(
        'outdated',
        `The schema of ${database} is behind this program: run app-platform migrate.`,
      )
    }
    const earlier = movedBefore(database)
    assertSound(database, migrations)
    const connection = connectAlone(database, { allowMoved: true })
    try {
      // Checks first that a copy fits there and is sound.
      const rehearsal = unfinishedName(target)
      try {
        backUp(connection, rehearsal, { replace: false })
        const movedAt = earlier ?? (await markMoved(connection, database, { now, event }))
        rmSync(rehearsal)
        backUp(connection, rehearsal, { replace: false })
        seal(rehearsal)
        linkSync(rehearsal, target)
        syncFolderOf(target)
        return { database, file: target, movedAt }
      } finally {
        rmSync(rehearsal, { force: true })
      }
    } finally {
      connection.close()
    }
  } finally {
    lock.release()
  }
}

/** When the database was moved; null if it was not. Refuses a sealed copy and a database that lacks acknowledged changes. */
const movedBefore = (database: string): number | null => {
  const connection = connectForLooking(database)
  const movedAt = markedAt(connection, 'moved')
  connection.close()
  if (movedAt === null) assertServable(database)
  return movedAt
}

const markMoved = async (
  connection: Connection,
  database: string,
  { now, event }: Pick<StoppedOptions, 'now' | 'event'>,
): Promise<number> => {
  connection.run('BEGIN EXCLUSIVE')
  const queries = createQueries(drizzle(connection))
  // The trusted time is part of the copy: an older clock on the other machine must not revive anything.
  const clock = Math.max(now, await trustedTime(queries, database))
  await queries.watermarks.set('clock', clock)
  await queries.watermarks.set('moved', clock)
  await queries.audit.insert(event(await momentOf(queries, clock), { action: 'database.moved' }))
  commitCounted(connection, database)
  return clock
}

/** Marks the copy as sealed, which `restore --move` asks for. */
const seal = (copy: string): void => {
  const connection = connect(copy, { synchronous: 'FULL', busyTimeoutMs: 1_000 })
  try {
    connection.value('PRAGMA main.journal_mode = DELETE')
    connection.run("UPDATE watermarks SET name = 'sealed' WHERE name = 'moved'")
  } finally {
    connection.close()
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
  if (found.size === 0 || inspectSchema(sealed, migrations) === 'empty') throw notSealed(sealed)
  assertSound(sealed, migrations)
  const database = canonicalPath(file)
  const lock = lockAgainstServers(database)
  const copy = `${database}.${crypto.randomUUID()}.restoring`
  try {
    assertNothingThere(database)
    copySealed(sealed, copy)
    await migrate(copy, migrations)
    const connection = connect(copy, { synchronous: 'FULL', busyTimeoutMs: 1_000 })
    try {
      connection.value('PRAGMA main.journal_mode = DELETE') // one file, without companions that would have to be renamed with it
      connection.run('BEGIN EXCLUSIVE')
      const queries = createQueries(drizzle(connection))
      const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
      connection.run("DELETE FROM watermarks WHERE name = 'sealed'")
      await queries.watermarks.set('clock', at)
      await queries.audit.insert(event(await momentOf(queries, at), { action: 'database.moved_here' }))
      const count = commitCounted(connection, database)
      syncFile(copy)
      writeAcknowledged(database, { count, time: at })
      renameSync(copy, database)
      syncFolderOf(database)
      return { database, restoredAt: at }
    } finally {
      connection.close()
    }
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(copy + suffix, { force: true })
    lock.release()
  }
}

const assertNothingThere = (database: string): void => {
  const { wal, shm } = companionsOf(database)
  const found = [database, wal, shm, `${database}-journal`].find((path) => existsSync(path))
  if (found === undefined) return
  const sentence = `There is a database at ${found} already, and a move replaces none: move it away, or name another place with --database.`
  throw new DatabaseUnusable('exists', sentence)
}

const copySealed = (sealed: string, copy: string): void => {
  const connection = new Connection(sealed, { readonly: true })
  try {
    if (markedAt(connection, 'sealed') === null) throw notSealed(sealed)
    createPrivately(copy)
    connection.run('VACUUM INTO ?', [copy])
  } finally {
    connection.close()
  }
  dropStatistics(copy)
}

const notSealed = (file: string) =>
  new DatabaseUnusable(
    'foreign',
    `${file} is not the sealed copy of a moved database: make one with app-platform move --to PATH, or restore a backup without --move.`,
  )
