import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseUnusable } from '../database.ts'

const groupAndOthers = 0o077

/** The files beside the database. SQLite's own, -wal and -shm, hold the same rows and get the database's mode from it. */
export const companionsOf = (file: string) => ({
  wal: `${file}-wal`,
  shm: `${file}-shm`,
  lock: `${file}.lock`,
  acknowledged: `${file}.acknowledged`,
  reserve: `${file}.reserve`,
})

/**
 * The one name of the file, links resolved, so that two ways to write it meet at the same lock. Makes the folder, 0700.
 * @throws DatabaseUnusable for what is there and is none: a pipe would be waited for, and a device replaced by a backup
 */
export const canonicalPath = (file: string): string => {
  const path = resolve(file)
  makeFolder(dirname(path))
  // Looked at once: another first start may make the file at any moment.
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return join(realpathSync(dirname(path)), basename(path))
  const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry
  if (found?.isFile() === true) return realpathSync(path)
  if (found === undefined) {
    throw new DatabaseUnusable('missing', `${path} is a link that leads to no file: name the file itself.`)
  }
  throw new DatabaseUnusable('foreign', `${path} is a folder, a pipe or a device, not a file: choose another name.`)
}

/** Durable as well: a power cut must not take the folder with everything that was acknowledged in it. */
const makeFolder = (folder: string): void => {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length && made !== dirname(made); made = dirname(made))
    syncFolderOf(made)
}

/**
 * Makes an empty file with mode 0600, whatever the umask, unless one is there. Creating never opens an existing file:
 * closing a descriptor of a database drops every lock this process holds on it (POSIX).
 */
export const createPrivately = (file: string): void => {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Sentences about files that others than their owner may read or write. */
export const exposures = (files: readonly string[]): readonly string[] =>
  files.flatMap((file) => {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    return (mode & groupAndOthers) === 0
      ? []
      : [`${file} is open to other users of this machine: run chmod 600 ${file}`]
  })

export const assertPrivate = (file: string): void => {
  const { wal, shm } = companionsOf(file)
  const found = exposures([file, wal, shm])
  if (found.length > 0) throw new DatabaseUnusable('not_private', `${found.join('; ')}.`)
}

/** Makes the names in a folder durable: a file whose name is lost is lost. */
export const syncFolderOf = (file: string): void => {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Makes what is in a file durable. */
export const syncFile = (file: string): void => {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * A descriptor of the file that SQLite has open in this process. Opening the file ourselves would be wrong: closing any
 * descriptor of it drops SQLite's locks (fcntl(2)). Null if there is none, or the system does not list descriptors.
 */
export const descriptorOf = (file: string): number | null => {
  try {
    const { dev, ino } = statSync(file)
    const found = readdirSync('/dev/fd').find((name) => isOpenAs(Number(name), dev, ino))
    return found === undefined ? null : Number(found)
  } catch {
    return null
  }
}

const isOpenAs = (descriptor: number, dev: number, ino: number): boolean => {
  try {
    const found = fstatSync(descriptor)
    return found.dev === dev && found.ino === ino
  } catch {
    return false // closed meanwhile
  }
}
