import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { DatabaseUnusable, type WriteEvent } from './database.ts'
import { inspectSchema, migrate, type Migration } from './migrate.ts'
import { createQueries } from './queries/index.ts'
import type { CarriedOver } from './restore/ends.ts'
import { type EndedByRestore, endEverythingIssued } from './restore/end-everything-issued.ts'
import { holdPredecessor, keepPredecessor, type Predecessor, readPredecessor } from './restore/predecessor.ts'
import { readAcknowledged } from './sqlite/acknowledged.ts'
import { connect, Connection, laterCount, nextCount, readCount } from './sqlite/connection.ts'
import { faultKind } from './sqlite/fault.ts'
import { assertNotMoved } from './sqlite/servable.ts'
import { assertPlace } from './sqlite/place.ts'
import { canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './sqlite/files.ts'
import { lockAgainstServers } from './sqlite/lock.ts'

type RestoreOptions = {
  readonly file: string
  readonly backup: string
  readonly migrations: readonly Migration[]
  /** Epoch milliseconds by the machine's clock; the restore happens then, or later if the data has seen a later time. */
  readonly now: number
  readonly event: WriteEvent
  /** Told before each step begins. */
  readonly progress: (step: RestoreStep) => void
}
export type RestoreStep = 'check' | 'copy' | 'end' | 'keep' | 'replace' | 'done'

export type RestoreFacts = {
  readonly predecessor: Predecessor
  readonly ended: EndedByRestore
  /** What the predecessor said had ended since the backup; null when it could not be read. */
  readonly carriedOver: CarriedOver | null
  /** Ends of what the backup does not know, kept for the restore of one that does. */
  readonly kept: number
  /** Earlier restores, since the backup was made, that could not read what they replaced. */
  readonly unread: number
}
export type Restored = RestoreFacts & {
  readonly database: string
  /** Where the predecessor is now; null when there was none. */
  readonly keptAs: string | null
  readonly at: number
}

/**
 * Puts a backup in the place of the database. The work is done on a copy beside it, which takes the name in one rename: killed at
 * any moment, the name leads to the old database or to the finished new one. The backup itself is only read.
 * @throws DatabaseUnusable when the backup is none, damaged or newer, while another process uses the database, or when that
 *   has several names
 */
export const restoreSqlite = async (options: RestoreOptions): Promise<Restored> => {
  options.progress('check')
  assertRestorable(options)
  const database = canonicalPath(options.file)
  assertPlace(database)
  const lock = lockAgainstServers(database)
  try {
    removeLeftovers(database, options.backup)
    return await restoreInto(database, options)
  } finally {
    lock.release()
  }
}

const restoreInto = async (database: string, options: RestoreOptions): Promise<Restored> => {
  const copy = `${database}.${crypto.randomUUID()}${unfinished}`
  try {
    options.progress('copy')
    copyWhole(options.backup, copy)
    await migrate(copy, options.migrations)
    options.progress('end')
    const connection = connect(copy, { synchronous: 'FULL', busyTimeoutMs: 1_000 })
    try {
      connection.value('PRAGMA main.journal_mode = DELETE') // one file, without companions that would have to be renamed with it
      const held = holdPredecessor(connection, database)
      const settled = await settle(connection, held, database, options)
      options.progress('keep')
      const keptAs = keepPredecessor(database, held, settled.at)
      options.progress('replace')
      createPrivately(companionsOf(database).acknowledged) // empty where there was none: nothing was acknowledged there
      syncFile(copy)
      renameSync(copy, database)
      syncFolderOf(database)
      options.progress('done')
      return { ...settled, database, keptAs }
    } finally {
      connection.close()
    }
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(copy + suffix, { force: true })
  }
}

const assertRestorable = ({ backup, file, migrations }: RestoreOptions): void => {
  const found = statSync(backup, { throwIfNoEntry: false })
  if (found?.isFile() !== true) throw new DatabaseUnusable('missing', `There is no backup at ${backup}.`)
  const present = statSync(file, { throwIfNoEntry: false })
  if (present?.dev === found.dev && present.ino === found.ino) {
    throw new DatabaseUnusable('exists', `${backup} is the database itself.`)
  }
  if (inspectSchema(backup, migrations) === 'empty')
    throw new DatabaseUnusable('foreign', `${backup} is empty: it is no backup.`)
  const connection = new Connection(backup, { readonly: true })
  try {
    assertNotMoved(connection, backup)
    const verdict = connection.value('PRAGMA integrity_check(1)')
    if (verdict !== 'ok') throw new DatabaseUnusable('damaged', `${backup} is damaged: ${String(verdict)}.`)
  } catch (error) {
    if (faultKind(error) !== 'state_unknown') throw error
    throw new DatabaseUnusable('damaged', `${backup} is damaged and cannot be read to its end.`, { cause: error })
  } finally {
    connection.close()
  }
}

const unfinished = '.restoring'

/** Where a command may put a copy of a backup that only root can read. A killed one leaves it to the next restore. */
export const stagedName = (database: string): string => `${resolve(database)}.${crypto.randomUUID()}.staged`

/** Of restores that were killed. Whoever has the lock is the only one who restores. */
const removeLeftovers = (database: string, backup: string): void => {
  const folder = dirname(database)
  for (const name of readdirSync(folder)) {
    const isLeftover =
      name.startsWith(`${basename(database)}.`) && /\.(?:restoring|staged)(?:-journal|-wal|-shm)?$/.test(name)
    if (isLeftover && !name.startsWith(basename(backup))) rmSync(join(folder, name), { force: true })
  }
}

/** By SQLite, so that what stands in a WAL beside the backup is not left out. */
const copyWhole = (backup: string, copy: string): void => {
  createPrivately(copy)
  const connection = new Connection(resolve(backup), { readonly: true })
  try {
    connection.run('VACUUM INTO ?', [copy])
  } finally {
    connection.close()
  }
}

/** Makes the copy what it is to be, in one transaction. */
const settle = async (connection: Connection, held: Predecessor, database: string, options: RestoreOptions) => {
  connection.run('BEGIN EXCLUSIVE')
  const queries = createQueries(drizzle(connection))
  const before = held === 'read' ? readPredecessor(connection, options.now) : null
  const predecessor = held === 'read' ? (before?.predecessor ?? 'unreadable') : held
  const clock = Math.max((await queries.watermarks.find('clock')) ?? 0, before?.clock ?? 0)
  const at = Math.max(options.now, clock)
  const ended = endEverythingIssued(connection, at)
  const { carriedOver = null, kept = 0, unread = 0 } = before ?? {}
  const facts: RestoreFacts = { predecessor, ended, carriedOver, kept, unread }
  if (clock > 0) await queries.watermarks.set('clock', clock)
  await queries.watermarks.set('restored', at)
  const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
  await queries.audit.insert(options.event(moment, { action: 'database.restored', detail: facts }))
  // What the predecessor acknowledged is not missing: it was replaced.
  const counted = readCount(connection)
  const count = nextCount(laterCount(counted, readAcknowledged(database) ?? counted))
  connection.run(`PRAGMA main.user_version = ${count}`)
  connection.run('COMMIT')
  return { ...facts, at }
}
