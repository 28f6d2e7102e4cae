import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { hasCode } from '../../src/domain/error-code.ts'
import { DatabaseUnusable } from '../database.ts'

const groupAndOthers = 0o077

/** The files that belong to a database. SQLite's own, -wal and -shm, hold the same rows and get their mode from the database. */
export const companionsOf = (file: string) => ({
  wal: `${file}-wal`,
  shm: `${file}-shm`,
  lock: `${file}.lock`,
  acknowledged: `${file}.acknowledged`,
  reserve: `${file}.reserve`,
})

/**
 * The canonical path of a file: absolute, links resolved, so that every spelling leads to the same lock. Creates the folder
 * with mode 0700.
 * @throws DatabaseUnusable for anything but a file: opening a pipe would block, and a backup would replace a device
 */
export const canonicalPath = (file: string): string => {
  const path = resolve(file)
  makeFolder(dirname(path))
  // One look only: another first start may create the file at any moment.
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return join(realpathSync(dirname(path)), basename(path))
  const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry
  if (found?.isFile() === true) return realpathSync(path)
  if (found === undefined) {
    throw new DatabaseUnusable('missing', `${path} is a link that leads to no file: name the file itself.`)
  }
  throw new DatabaseUnusable('foreign', `${path} is a folder, a pipe or a device, not a file: choose another name.`)
}

/** Makes the folder durable as well: a power cut must not remove it with acknowledged changes in it. */
const makeFolder = (folder: string): void => {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length && made !== dirname(made); made = dirname(made))
    syncFolderOf(made)
}

/**
 * Creates an empty file with mode 0600, whatever the umask, unless one exists. Never opens an existing file: closing a
 * descriptor of a database drops every lock that this process holds on it (POSIX).
 */
export const createPrivately = (file: string): void => {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

/** A sentence for each file that users other than its owner may read or write. */
export const exposures = (files: readonly string[]): readonly string[] =>
  files.flatMap((file) => {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    return (mode & groupAndOthers) === 0
      ? []
      : [`${file} is open to other users of this machine: run chmod 600 ${file}`]
  })

/** Makes the names in the folder of a file durable: a file without a name is lost. */
export const syncFolderOf = (file: string): void => sync(dirname(file), 'r')

/** Makes the content of a file durable. */
export const syncFile = (file: string): void => sync(file, 'r+')

const sync = (path: string, flags: 'r' | 'r+'): void => {
  const descriptor = openSync(path, flags)
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
    return openDescriptors().find((descriptor) => isOpenAs(descriptor, dev, ino)) ?? null
  } catch {
    return null
  }
}

/** Linux does not list those of a process that root has started and that acts as another user: then the first ones are tried. */
const openDescriptors = (): readonly number[] => {
  try {
    return readdirSync('/dev/fd').map(Number)
  } catch {
    return Array.from({ length: 1_024 }, (_, descriptor) => descriptor)
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

const [deleted, outOfReach] = ['was deleted', 'went out of reach']

/** The identity of the file that a name leads to, or why there is none. */
const identityOf = (path: string): string => {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found ? `${found.dev}:${found.ino}` : deleted
  } catch {
    return outOfReach // no permission, a link that leads to itself, a failing disk
  }
}

const dataRemedy = 'put the file back, or restore a backup, and start the server again'
const lockRemedy = 'keep other programs from removing it, and start the server again, which creates it'

/**
 * Notices when the names no longer lead to the open files. SQLite does not notice in WAL mode: writes into a deleted file
 * succeed and are lost. An inode number is not reused while its file is open. Looks at names only and opens nothing.
 */
export class FileGuard {
  readonly #expected: readonly { readonly path: string; readonly identity: string; readonly remedy: string }[]

  constructor({ data, locks }: { readonly data: readonly string[]; readonly locks: readonly string[] }) {
    this.#expected = [
      ...data.map((path) => ({ path, identity: identityOf(path), remedy: dataRemedy })),
      ...locks.map((path) => ({ path, identity: identityOf(path), remedy: lockRemedy })),
    ]
  }

  /** A sentence about the first file that was deleted or replaced, with what to do, or null. */
  fault(): string | null {
    for (const { path, identity, remedy } of this.#expected) {
      const found = identityOf(path)
      const isMissing = found === deleted || found === outOfReach
      const what = isMissing ? found : 'was replaced'
      if (isMissing || found !== identity) return `${path} ${what} under the running server: ${remedy}.`
    }
    return null
  }
}

/** The space that a user without special rights may still use. */
export const freeBytesBeside = (file: string): number | null => {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize
  } catch {
    return null // the folder is gone, or the disk fails
  }
}

export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
