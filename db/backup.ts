import { closeSync, existsSync, linkSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasCode } from '../src/domain/error-code.ts'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, type Migration } from './migrate.ts'
import { connect, Connection } from './sqlite/connection.ts'
import { bytesOf, canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './sqlite/files.ts'
import { assertExists, assertPlace } from './sqlite/place.ts'
import { assertLeavesReserve } from './sqlite/room.ts'
import { assertNotMoved } from './sqlite/servable.ts'
import { removeLeftovers, temporaryFile, withoutTemporary } from './sqlite/temporary.ts'
import { isDamage, withPlace, withPlaceOfCopy } from './faults/system.ts'
import { startThread } from './sqlite/thread.ts'

type BackupOptions = {
  readonly file: string
  readonly to: string
  readonly replace: boolean
  readonly migrations: readonly Migration[]
}

/**
 * Backs up a database without opening it for use, so that one with an outdated schema can be saved before it is migrated.
 * @throws DatabaseUnusable if there is none, it is not ours, it has several names, or `to` exists and may not be replaced
 */
export const backupFile = ({ file, to, replace, migrations }: BackupOptions): void => {
  assertExists(file)
  const path = canonicalPath(file)
  assertPlace(path)
  try {
    if (inspectSchema(path, migrations) === 'empty') throw new DatabaseUnusable('missing', `${file} is empty.`)
    using connection = connect(path)
    assertNotMoved(connection, path)
    if (isOnDiskOf(path, to)) assertLeavesReserve(path, bytesOf(path) + bytesOf(companionsOf(path).wal))
    backUp(connection, to, { replace })
  } catch (error) {
    throw withPlace(path, error)
  }
}

const isOnDiskOf = (file: string, to: string): boolean =>
  statSync(dirname(file)).dev === statSync(dirname(canonicalPath(to)), { throwIfNoEntry: false })?.dev

/**
 * Copies what is committed now into one file, which is complete and durable under its name, or not there at all. The copy is
 * made inside SQLite and stops this process meanwhile (about 2 ms per MB). Other processes go on.
 */
export const backUp = (source: Connection, to: string, options: { readonly replace: boolean }): void => {
  const file = canonicalPath(source.filename)
  assertNotOwnFile(file, canonicalPath(to))
  removeLeftovers(dirname(file)) // of a backup that went to standard output
  using copy = beginCopy(to, options)
  try {
    copyInto(source, copy.file)
    assertWhole(copy.file)
    copy.keep()
  } catch (error) {
    // The copy is new: what is damaged is what was copied.
    if (isDamage(error)) throw withPlace(file, error)
    throw withPlaceOfCopy({ copy: copy.file, named: withoutTemporary(copy.target), bytes: bytesOf(file) }, error)
  }
}

/**
 * Makes a private file beside the target, for a copy that is complete and durable under the name of the target once it is kept. A copy
 * that is not kept is removed. @throws DatabaseUnusable ('exists') if `to` exists and may not be replaced
 */
export const beginCopy = (to: string, { replace }: { readonly replace: boolean }) => {
  const target = canonicalPath(to)
  if (!replace && existsSync(target)) throw alreadyThere(target)
  removeLeftovers(dirname(target))
  const { path: file, ...copy } = temporaryFile(target)
  createPrivately(file)
  return {
    ...copy,
    target,
    file,
    keep: () => {
      syncFile(file)
      if (replace) renameSync(file, target)
      else claimName(file, target)
      syncFolderOf(target)
    },
  }
}

/** The first bytes of a dump of PostgreSQL in the custom format. */
const markOfDumps = 'PGDMP'

/** Whether the file is a dump and not an SQLite file; false if it cannot be read. */
export const isDump = (file: string): boolean => {
  const head = Buffer.alloc(markOfDumps.length)
  let descriptor = -1
  try {
    if (!statSync(file).isFile()) return false // to open a pipe would wait for its writer
    descriptor = openSync(file, 'r')
    readSync(descriptor, head, 0, head.length, 0)
  } catch {
    return false // what checks or restores the file says why
  } finally {
    if (descriptor >= 0) closeSync(descriptor)
  }
  return head.toString('latin1') === markOfDumps
}

/** @throws DatabaseUnusable ('exists') for the database and the files that belong to it, also those that are not there now */
export const assertNotOwnFile = (database: string, target: string): void => {
  if (![database, ...Object.values(companionsOf(database))].includes(target)) return
  throw new DatabaseUnusable('exists', `${target} belongs to the database itself: choose another name.`)
}

/** If the worker that syncs the copy fails, the backup goes on without it. */
const copyInto = (source: Connection, unfinished: string): void => {
  const flusher = startThread('flush-worker.ts')
  flusher.addEventListener('error', () => {})
  flusher.postMessage(unfinished, [])
  try {
    using copy = source.prepare<unknown, [string]>('VACUUM INTO ?')
    copy.run(unfinished)
  } finally {
    flusher.terminate()
  }
}

const alreadyThere = (target: string) =>
  new DatabaseUnusable('exists', `${target} exists already and was left as it is.`)

/**
 * Unlike a rename, a link never replaces a file that was created meanwhile. Sticks and network drives have no links: there the name is
 * taken by an empty file first.
 * @throws DatabaseUnusable ('exists')
 */
export const claimName = (unfinished: string, target: string): void => {
  try {
    try {
      linkSync(unfinished, target)
    } catch (error) {
      if (!hasCode(error, ...withoutLinks)) throw error
      closeSync(openSync(target, 'wx', 0o600))
      renameSync(unfinished, target)
    }
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? alreadyThere(target) : error
  }
}

const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

const assertWhole = (copy: string): void => {
  using connection = new Connection(copy, { readonly: true })
  const verdict = connection.value('PRAGMA quick_check(1)')
  if (verdict !== 'ok') throw new DatabaseUnusable('damaged', `The copy is damaged: ${String(verdict)}.`)
}
