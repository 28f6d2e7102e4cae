import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { DatabaseUnusable, type WriteEvent } from './database.ts'
import { inspectSchema, migrate, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import { assertServable, markedAt } from './sqlite/servable.ts'
import { readKeptTime, writeAcknowledged } from './sqlite/acknowledged.ts'
import { connectAlone, lockAgainstServers } from './sqlite/lock.ts'
import { backUp, unfinishedName } from './sqlite/backup.ts'
import { connect, connectForLooking, Connection, nextCount, readCount } from './sqlite/connection.ts'
import { assertPlace } from './sqlite/place.ts'
import { canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './sqlite/files.ts'

type MoveOptions = {
  readonly file: string
  readonly migrations: readonly Migration[]
  /** Epoch milliseconds by the machine's clock. */
  readonly now: number
  readonly event: WriteEvent
}

/**
 * Marks a stopped database as moved, after which nothing uses it any more, and writes a sealed copy of it. The mark comes first
 * and is durable: killed at any moment, the database has not moved, or the command may be run again and writes the same copy.
 * @throws DatabaseUnusable when there is no database, it is outdated, linked, has lost changes, is in use, or `to` exists
 */
export const moveSqlite = async ({ file, to, migrations, now, event }: MoveOptions & { readonly to: string }) => {
  if (!existsSync(file)) throw new DatabaseUnusable('missing', `There is no database at ${file}.`)
  const database = canonicalPath(file)
  const target = canonicalPath(to)
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
    const connection = connectAlone(database, { allowMoved: true })
    try {
      // Proves first that the copy fits there and is sound.
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

/** When it was moved; null when it was not. A sealed copy and a database with a loss are refused. */
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
  { now, event }: Pick<MoveOptions, 'now' | 'event'>,
): Promise<number> => {
  connection.run('BEGIN EXCLUSIVE')
  const queries = createQueries(drizzle(connection))
  const kept = [await queries.watermarks.find('clock'), readKeptTime(database)].filter((time) => time !== null)
  // The trusted time goes along: an older clock on the other machine must revive nothing.
  const clock = Math.max(now, ...kept)
  await queries.watermarks.set('clock', clock)
  await queries.watermarks.set('moved', clock)
  const moment = { at: clock, idAt: clock + (await queries.audit.aheadMs()) }
  await queries.audit.insert(event(moment, { action: 'database.moved' }))
  connection.run(`PRAGMA main.user_version = ${nextCount(readCount(connection))}`)
  connection.run('COMMIT')
  return clock
}

/** Turns the mark of a copy into that of a copy that `restore --move` accepts. */
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
 * Puts a sealed copy in place where there is no database yet. Ends nothing: tokens, sessions and grants go on. Killed at any
 * moment there is no database yet, and the command may be run again, or there is the finished one.
 * @throws DatabaseUnusable when the file is no sealed copy, damaged or newer, or there is a database or what is left of one
 */
export const restoreMoved = async ({
  file,
  sealed,
  migrations,
  now,
  event,
}: MoveOptions & { readonly sealed: string }) => {
  if (!existsSync(sealed)) throw new DatabaseUnusable('missing', `There is no file at ${sealed}.`)
  if (inspectSchema(sealed, migrations) === 'empty') throw notSealed(sealed)
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
      const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
      await queries.audit.insert(event(moment, { action: 'database.moved_here' }))
      const count = nextCount(readCount(connection))
      connection.run(`PRAGMA main.user_version = ${count}`)
      connection.run('COMMIT')
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
    const verdict = connection.value('PRAGMA integrity_check(1)')
    if (verdict !== 'ok') throw new DatabaseUnusable('damaged', `${sealed} is damaged: ${String(verdict)}.`)
    createPrivately(copy)
    connection.run('VACUUM INTO ?', [copy])
  } finally {
    connection.close()
  }
}

const notSealed = (file: string) =>
  new DatabaseUnusable(
    'foreign',
    `${file} is not the sealed copy of a moved database: make one with app-platform move --to PATH, or restore a backup without --move.`,
  )
