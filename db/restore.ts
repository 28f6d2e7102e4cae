import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { assertSound } from './check.ts'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, migrate } from './migrate.ts'
import { connectToCopy, copyWhole, removeCopy } from './restore/copy.ts'
import type { CarriedOver } from './restore/end.ts'
import { holdPredecessor, keepPredecessor, type Predecessor, readPredecessor } from './restore/predecessor.ts'
import { readAcknowledged, writeAcknowledged } from './sqlite/acknowledged.ts'
import { type Connection, connectForLooking } from './sqlite/connection.ts'
import { assertNotMoved } from './sqlite/servable.ts'
import { commitCounted, exclusiveOn, type StoppedOptions } from './stopped.ts'
import { type EndedByRestore, endEverythingIssued, momentOf } from './stopped-changes.ts'
import { assertReplaceable } from './sqlite/place.ts'
import { canonicalPath, syncFile, syncFolderOf } from './sqlite/files.ts'
import { lockAgainstServers } from './sqlite/lock.ts'

type RestoreOptions = StoppedOptions & {
  readonly backup: string
  /** Called before each step. */
  readonly progress: (step: RestoreStep) => void
}
export type RestoreStep = 'check' | 'copy' | 'end' | 'keep' | 'replace' | 'done'

export type RestoreFacts = {
  readonly predecessor: Predecessor
  readonly ended: EndedByRestore
  /** What had ended in the predecessor since the backup; null if it could not be read. */
  readonly carriedOver: CarriedOver | null
  /** Ends of things that this backup does not have, kept for a restore of one that does. */
  readonly kept: number
  /** Restores since the backup was made that could not read what they replaced. */
  readonly unread: number
}
export type Restored = RestoreFacts & {
  readonly database: string
  /** The path of the predecessor now; null if there was none. */
  readonly keptAs: string | null
  /** The time of the restore: `now`, or the latest time in the data if that is later. */
  readonly at: number
}

/**
 * Replaces the database by a backup. The work is done on a copy, which takes the database's name in one rename: after a kill, the
 * name leads either to the old database or to the finished new one. The backup is only read.
 * @throws DatabaseUnusable if the backup is missing, foreign, damaged or newer, or the database is in use or has several names
 */
export const restoreSqlite = async (options: RestoreOptions): Promise<Restored> => {
  options.progress('check')
  assertRestorable(options)
  const database = canonicalPath(options.file)
  assertReplaceable(database)
  using _ = lockAgainstServers(database)
  removeLeftovers(database, options.backup)
  const copy = `${database}.${crypto.randomUUID()}${unfinished}`
  try {
    options.progress('copy')
    copyWhole(options.backup, copy)
    await migrate(copy, options.migrations)
    options.progress('end')
    using connection = connectToCopy(copy)
    const held = holdPredecessor(connection, database)
    const settled = await settle(connection, held, database, options)
    options.progress('keep')
    const keptAs = keepPredecessor(database, held, settled.at)
    options.progress('replace')
    // A readable count is below that of the copy. Without one, the old database is refused already.
    if (readAcknowledged(database) === null) writeAcknowledged(database, { count: settled.count })
    syncFile(copy)
    renameSync(copy, database)
    syncFolderOf(database)
    options.progress('done')
    return { ...settled.facts, at: settled.at, database, keptAs }
  } finally {
    removeCopy(copy)
  }
}

const assertRestorable = ({ backup, file, migrations }: RestoreOptions): void => {
  const found = statSync(backup, { throwIfNoEntry: false })
  if (found?.isFile() !== true) throw new DatabaseUnusable('missing', `There is no backup at ${backup}.`)
  const present = statSync(file, { throwIfNoEntry: false })
  if (present?.dev === found.dev && present.ino === found.ino) {
    throw new DatabaseUnusable('exists', `${backup} is the database itself.`)
  }
  if (found.size === 0 || inspectSchema(backup, migrations) === 'empty')
    throw new DatabaseUnusable('foreign', `${backup} is empty: it is no backup.`)
  assertSound(backup, migrations)
  using connection = connectForLooking(backup)
  assertNotMoved(connection, backup)
}

const unfinished = '.restoring'

/** The path for a copy of a backup that only root can read. If the command is killed, the next restore removes it. */
export const stagedName = (database: string): string => `${resolve(database)}.${crypto.randomUUID()}.staged`

/** Removes what killed restores have left. The lock excludes a restore that still runs. */
const removeLeftovers = (database: string, backup: string): void => {
  const folder = dirname(database)
  for (const name of readdirSync(folder)) {
    const isLeftover =
      name.startsWith(`${basename(database)}.`) && /\.(?:restoring|staged)(?:-journal|-wal|-shm)?$/.test(name)
    if (isLeftover && !name.startsWith(basename(backup))) rmSync(join(folder, name), { force: true })
  }
}

/** Turns the copy into the new database, in one transaction. */
const settle = async (connection: Connection, held: Predecessor, database: string, options: RestoreOptions) => {
  connection.run('BEGIN EXCLUSIVE')
  const exclusive = exclusiveOn(connection)
  const { queries } = exclusive
  const before = held === 'read' ? await readPredecessor(connection, options.now) : null
  const predecessor = held === 'read' ? (before?.predecessor ?? 'unreadable') : held
  const clock = Math.max((await queries.watermarks.find('clock')) ?? 0, before?.clock ?? 0)
  const at = Math.max(options.now, clock)
  const ended = await endEverythingIssued(exclusive, at)
  const { carriedOver = null, kept = 0, unread = 0 } = before ?? {}
  const facts: RestoreFacts = { predecessor, ended, carriedOver, kept, unread }
  if (clock > 0) await queries.watermarks.set('clock', clock)
  await queries.watermarks.set('restored', at)
  const event = options.event(await momentOf(queries, at), { action: 'database.restored', detail: facts })
  await queries.audit.insert(event)
  const count = commitCounted(connection, database) // changes that the predecessor acknowledged do not count as missing: they were replaced
  return { facts, at, count }
}
