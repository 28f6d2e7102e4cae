import { hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { lazily } from '../src/domain/remembered.ts'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, type Migration } from './migrate.ts'
import { connect, Connection } from './sqlite/connection.ts'
import { bytesOf, canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './sqlite/files.ts'
import { assertExists, assertPlace } from './sqlite/place.ts'
import { assertLeavesReserve } from './sqlite/room.ts'
import { assertNotMoved } from './sqlite/servable.ts'
import { isDamage, withPlace } from './faults/system.ts'
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
    throw isDamage(error) ? withPlace(canonicalPath(source.filename), error) : withPlace(copy.target, error)
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
  const file = unfinishedName(target)
  createPrivately(file)
  return {
    target,
    file,
    keep: () => {
      syncFile(file)
      if (replace) renameSync(file, target)
      else claimName(file, target)
      syncFolderOf(target)
    },
    [Symbol.dispose]: () => rmSync(file, { force: true }),
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

/**
 * The name of a copy that is being made. It has the process ID and whose IDs these are, so that the next backup can tell that its process was
 * killed.
 */
export const unfinishedName = (target: string): string =>
  `${target}.${processesHere()}-${process.pid}-${crypto.randomUUID()}.unfinished`

const unfinishedPattern =
  /\.(?:([0-9a-f]{8})-(\d+)-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.unfinished(?:-journal)?$/

/** Stands for those who have the same process IDs: another container, or another machine, has others. */
const processesHere = lazily(() => {
  const parts = [
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ].map((read) => {
    try {
      return read()
    } catch {
      return hostname() // only Linux has these files
    }
  })
  return hash('sha256', parts.join('\n')).slice(0, 8)
})

/** A running backup writes all the time. */
const longestPauseMs = 60 * 60 * 1_000

/** Removes what killed backups have left in this folder. */
const removeLeftovers = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const found = unfinishedPattern.exec(name)
    if (found === null) continue
    const path = join(folder, name)
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    const isOld = Date.now() - changedAt > longestPauseMs
    const [, whose, pid] = found
    if (!isOld && (whose !== processesHere() || isRunning(Number(pid)))) continue
    try {
      rmSync(path, { force: true })
    } catch {
      // What cannot be removed is no reason to make no backup.
    }
  }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH') // it may belong to another user
  }
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
      if (!withoutLinks.has(codeOf(error))) throw error
      closeSync(openSync(target, 'wx', 0o600))
      renameSync(unfinished, target)
    }
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? alreadyThere(target) : error
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null)
const withoutLinks: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

const assertWhole = (copy: string): void => {
  using connection = new Connection(copy, { readonly: true })
  const verdict = connection.value('PRAGMA quick_check(1)')
  if (verdict !== 'ok') throw new DatabaseUnusable('damaged', `The copy is damaged: ${String(verdict)}.`)
}
