import { existsSync, lstatSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseUnusable } from '../database.ts'
import { canonicalPath, companionsOf, syncFolderOf } from './files.ts'
import { closedPlace, mountPoints } from '../faults/system.ts'

/**
 * Checks the files of a database before any of them is opened, because SQLite's errors name no file. Expects the canonical
 * path.
 * @throws DatabaseUnusable with what to do
 */
export const assertPlace = (file: string): void => {
  assertNotLost(file)
  assertReplaceable(file)
}

/** The same for a command that replaces the database, which may be lost. @throws as `assertPlace` */
export const assertReplaceable = (file: string): void => {
  assertOneName(file)
  assertNotMountedAlone(file)
  for (const { path, found } of filesAt(file)) assertFile(path, found)
  const closed = closedPlace(file)
  if (closed !== null) throw new DatabaseUnusable('out_of_reach', closed)
  const [tooStrict] = modeFaults(file)
  if (tooStrict !== undefined) throw new DatabaseUnusable('not_private', tooStrict)
}

/** The database and those of its companions that are there. */
const filesAt = (file: string): readonly { readonly path: string; readonly found: Stats }[] => {
  const { wal, shm, lock, acknowledged } = companionsOf(file)
  return [file, wal, shm, lock, acknowledged].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found === undefined ? [] : [{ path, found }]
  })
}

/** @throws DatabaseUnusable ('missing') if there is no file, for a command that never creates one */
export const assertExists = (file: string): void => {
  if (isThere(file)) return
  assertNotLost(file)
  throw new DatabaseUnusable('missing', `There is no database at ${file}.`)
}

/** @throws what the system says of a folder that may not be entered; existsSync would call the file missing */
export const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

const assertNotLost = (file: string): void => {
  const sentence = lostSentence(file)
  if (sentence !== null) throw new DatabaseUnusable('missing', sentence)
}

/**
 * A sentence if a database is gone, or its file is empty, although its companions are there. A new file in its place, or one
 * look at an empty one, makes SQLite delete the WAL, with every acknowledged commit that is only there. Neither companion is
 * made before the file has content, so they are looked at first: another process may be making them all.
 */
export const lostSentence = (file: string): string | null => {
  const { wal, acknowledged } = companionsOf(file)
  const left = [wal, acknowledged].filter((path) => existsSync(path))
  const found = left.length === 0 ? undefined : statSync(file, { throwIfNoEntry: false })
  if (left.length === 0 || (found !== undefined && (found.size > 0 || !found.isFile()))) return null
  const verb = left.length === 1 ? 'is' : 'are'
  return (
    `${file} is ${found === undefined ? 'missing' : 'empty'}, but ${left.join(' and ')} of a database ${verb} still there: ` +
    'put the file of that database back, restore a backup with app-platform restore FILE, or, to start without its data, ' +
    `remove ${left.join(' and ')}.`
  )
}

const readAndWrite = 0o600

const notAFile = (path: string): string =>
  `${path} is a folder, a link, a pipe or a device, not a file of the database: move it away.`

/** Sentences about companions of a database that are no files. */
export const misplacedCompanions = (file: string): readonly string[] =>
  Object.values(companionsOf(file))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    .map(notAFile)

const assertFile = (path: string, found: Stats): void => {
  if (!found.isFile()) throw new DatabaseUnusable('foreign', notAFile(path))
}

/** Sentences about files of the database that their own owner may not read and write. Root may use every file. */
export const modeFaults = (file: string): readonly string[] =>
  (process.geteuid?.() ?? 0) === 0
    ? []
    : filesAt(file)
        .filter(({ found }) => (found.mode & readAndWrite) !== readAndWrite)
        .map(({ path }) => `Its owner may not read and write ${path}: run chmod 600 ${path}.`)

/**
 * A file that is a mount of its own, as with `docker run -v app.db:/data/app.db`, has its WAL and its lock outside of the
 * mount: they vanish with the container, and another container that mounts the file has its own.
 */
const assertNotMountedAlone = (file: string): void => {
  if (!mountPoints().includes(file)) return
  throw new DatabaseUnusable(
    'unsupported',
    `${file} is mounted by itself, without the files that belong beside it, which would be lost: ` +
      `mount its folder instead, as with docker run -v FOLDER:${dirname(file)}.`,
  )
}

/** The path at which a restore sets the predecessor of a database aside. */
export const predecessorPath = (database: string, at: number): string =>
  predecessorPrefix(database) + new Date(at).toISOString().replaceAll(':', '-')

const predecessorPrefix = (database: string): string => `${database}.before-`

/**
 * Removes the databases that restores have set aside beside this one, and returns their files. What a restore that goes on at this moment
 * sets aside is still a file of the database itself, and stays.
 */
export const removePredecessors = (file: string): readonly { readonly path: string; readonly bytes: number }[] => {
  assertExists(file)
  const database = canonicalPath(file)
  const own = new Set([database, `${database}-journal`, ...Object.values(companionsOf(database))].map(inodeOf))
  const found = readdirSync(dirname(database))
    .filter((name) => name.startsWith(basename(predecessorPrefix(database))) && endOfPredecessor.test(name))
    .map((name) => join(dirname(database), name))
    .filter((path) => lstatSync(path).isFile() && !own.has(inodeOf(path)))
    .map((path) => ({ path, bytes: statSync(path).size }))
  for (const { path } of found) rmSync(path)
  if (found.length > 0) syncFolderOf(database)
  return found
}

/** The time, and what SQLite or a companion adds to the name. */
const endOfPredecessor = /\.before-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z(?:-(?:wal|shm|journal))?$/

const inodeOf = (path: string): string | null => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev} ${found.ino}`
}

/** A sentence about a file that has more names (hard links), or an empty list. */
export const furtherNames = (file: string): readonly string[] => {
  const names = statSync(file, { throwIfNoEntry: false })?.nlink ?? 0
  return names <= 1 || names - predecessorNames(file) <= 1
    ? []
    : [
        `${file} has another name as well (a hard link), under which a second server would not be noticed: ` +
          `find it with find / -xdev -samefile ${file} and remove it, or put a copy in its place`,
      ]
}

/** How many names are left of a restore that was killed before it replaced the database. No server uses those. */
const predecessorNames = (file: string): number => {
  const { dev, ino } = statSync(file)
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(predecessorPrefix(file))))
    .map((name) => statSync(join(dirname(file), name), { throwIfNoEntry: false }))
    .filter((found) => found?.dev === dev && found.ino === ino).length
}

/**
 * Each name of a file has a WAL and a lock of its own, so two servers under different names would not notice each other and
 * damage the file. Symbolic links do not count: they are resolved before.
 * @throws DatabaseUnusable ('linked') for a file with more than one name
 */
const assertOneName = (file: string): void => {
  const found = furtherNames(file)
  if (found.length > 0) throw new DatabaseUnusable('linked', `${found.join('; ')}.`)
}
