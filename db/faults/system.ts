/*
 * What an error of the system or of SQLite means, for every command and the server: one sentence with the path, the cause and what to
 * do. SQLite says little of that (`unable to open database file`), so the place is looked at: the file system, the folder, the owner, the
 * room. What PostgreSQL refuses is told by `postgres.ts`.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf } from '../../src/domain/error-code.ts'
import { DatabaseUnusable } from '../database.ts'
import { faultKind, lackedDescriptors, lacksRoom, noDescriptors, sqliteCode } from '../sqlite/fault.ts'
import { companionsOf } from '../sqlite/files.ts'

/** The name of a user of this machine, or `uid:1000` for one without a name: of containers and directory services the file lacks some. */
const userName = (uid: number | undefined): string => {
  if (uid === undefined) return 'unknown'
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0] ?? `uid:${uid}`
  } catch {
    return `uid:${uid}`
  }
}

/** The user who runs this process, from the system and not from the environment, which anyone can change. */
export const systemUser = (): string => userName(process.getuid?.())

/** The user whose rights this process has now. */
export const actingUser = (): string => userName(process.geteuid?.())

/** `… belongs to root (mode 0600)`, if this process may read that. */
export const ownership = (path: string): string => {
  try {
    const { uid, mode } = statSync(path)
    return `${path} belongs to ${userName(uid)} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`
  } catch {
    return `${path} is out of reach`
  }
}

/** Null for one that is not there. @throws what the system says of a folder that may not be entered */
const lookAt = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null

/** A backup has none of the files that belong to a database. */
export type FileKind = 'database' | 'backup'

/** What to do when such a file is damaged. */
export const remedies = {
  database: 'restore a backup with app-platform restore FILE',
  backup: 'use another backup',
} as const satisfies Record<FileKind, string>

/** `it` is the path, or words for a file that the error does not name; `at` is the path after a colon, or nothing. */
type Told = (it: string, path: string | null, at: string, remedy: string) => string

/** Every error of the system and of SQLite that is a fault of a file or its place, by its code. */
const told: ReadonlyMap<unknown, Told> = new Map(
  Object.entries<Told>({
    ENOENT: (_it, _path, at) => `There is no such file or folder${at}.`,
    EACCES: (_it, path) => (path === null ? forbidden() : forbiddenSentence(path)),
    EPERM: (_it, path) => (path === null ? forbidden() : forbiddenSentence(path)),
    EISDIR: (it) => `${it} is a folder, not a file: name a file.`,
    ELOOP: (it) => `${it} is a symbolic link that leads back to itself: name the file, or mend the link.`,
    ENAMETOOLONG: (_it, _path, at) => `The name is longer than this file system allows: choose a shorter one${at}.`,
    ENOTDIR: (_it, _path, at) => `A part of the path is a file, not a folder${at}.`,
    EEXIST: (_it, _path, at) => `A file with this name already exists${at}.`,
    EROFS: (_it, path) => (path === null ? 'The file system is mounted read-only.' : readOnlySentence(path)),
    ENOSPC: (_it, path) => (path === null ? 'The disk is full: make room.' : noRoomSentence(path)),
    EDQUOT: (_it, path) =>
      `The user ${actingUser()} has used up the quota on the disk${of(path)}: make room, or raise it.`,
    EFBIG: (it) =>
      `${it} would be larger than a file may be here: raise the limit (LimitFSIZE= in the unit, ulimit -f), or take another file system.`,
    EIO: (_it, path) => `The disk${of(path)} failed: dmesg tells more. Copy what can be read to another disk.`,
    EMFILE: () => noDescriptors,
    ENFILE: () => 'No more files may be open on this machine: raise the limit with sysctl fs.file-max.',
    EPIPE: () => 'The reader of the output stopped before all of it was written.',
    SQLITE_CORRUPT: (it, _path, _at, remedy) => damaged(it, remedy),
    SQLITE_NOTADB: (it, path, _at, remedy) =>
      path !== null && isCompressed(path)
        ? `${it} is compressed: unpack it, and name what comes out.`
        : `${it} cannot be read as an SQLite database: correct the path, or ${remedy}.`,
  }),
)

const damaged = (it: string, remedy: string): string => `${it} is damaged: ${remedy}.`

/** What exactly SQLite finds may follow. */
export const damagedSentence = (file: string, kind: FileKind): string => damaged(file, remedies[kind])

/** Whether it begins as a file of gzip, zstd, xz, bzip2 or ZIP does: people compress backups. */
const isCompressed = (path: string): boolean => {
  let descriptor: number | null = null
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const start = Buffer.alloc(6)
    readSync(descriptor, start)
    return /^(?:1f8b|28b52ffd|fd377a585a00|425a68|504b0304)/.test(start.toString('hex'))
  } catch {
    return false
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

const of = (path: string | null): string => (path === null ? '' : ` of ${path}`)

const forbidden = (): string => `A file or folder may not be used by the user ${actingUser()}: run it as the owner.`

/** A sentence about an error of the system or of SQLite, with what to do; null for a code that has none. */
export const systemSentence = (code: unknown, path: string | null, kind: FileKind = 'database'): string | null => {
  const unnamed = String(code).startsWith('SQLITE_') ? 'The database' : 'This'
  return told.get(code)?.(path ?? unnamed, path, path === null ? '' : `: ${path}`, remedies[kind]) ?? null
}

/** Of a code without a sentence the person reads at least what it is about. */
const unknownSentence = (code: unknown, path: string | null): string | null =>
  path === null || !/^E[A-Z\d]+$/.test(String(code)) ? null : `${path} cannot be used (${String(code)}).`

/** A sentence about any error of the system or of SQLite, with its path if the error names one; null for any other error. */
export const faultSentence = (error: unknown): string | null => {
  if (!(error instanceof Error && 'code' in error)) return null
  if ('syscall' in error && error.syscall === 'listen') return listenSentence(error)
  if (error.code === 'EADDRINUSE') return listenSentence(error)
  if (lackedDescriptors(error)) return noDescriptors
  // What is given its name by renaming is called by that name: nobody knows the other one.
  const [named, target] = ['path', 'dest'].map((name): unknown => Reflect.get(error, name))
  const place = typeof target === 'string' && error.code !== 'ENOENT' ? target : named
  const path = typeof place === 'string' && place !== '' ? place : null
  if (sqliteCode(error) === null) return systemSentence(error.code, path) ?? unknownSentence(error.code, path)
  return systemSentence(lacksRoom(error) ? 'ENOSPC' : String(error.code).split('_', 2).join('_'), path)
}

/** Why no port could be taken. For an unknown host name, Bun reports the code of an earlier failure. */
const listenSentence = ({ code, message }: Error & { readonly code: unknown }): string => {
  if (code === 'EACCES')
    return 'This user may not listen on a port below 1024: choose another port, and let a proxy pass calls on.'
  if (code !== 'EADDRINUSE') return 'This machine has no such address to listen on.'
  const port = /port (\d+)/.exec(message)?.[1] ?? '' // nothing else of the error names it
  return `Port ${port} is in use: another program listens there. Stop that program, or choose another port.`
}

const readOnlySentence = (path: string): string => {
  const mount = mountOf(dirname(resolve(path)))
  return (
    `${path} is on a file system that is mounted read-only: run mount -o remount,rw ${mount}. ` +
    'If the system made it read-only after a fault of the disk, dmesg says so.'
  )
}

const forbiddenSentence = (path: string): string => {
  const user = actingUser()
  const isSeen = existsFor(path)
  const place = isSeen ? path : nearestSeen(dirname(resolve(path)))
  const told = `${isSeen ? '' : `${path} is out of reach: `}${ownership(place)}, and this command acts as ${user}`
  const { uid, isFolder } = factsOf(place)
  if (uid === process.geteuid?.()) return `${told}: run chmod ${isFolder ? 'u+rwx' : 'u+rw'} ${place}.`
  // The folder around a missing file may be one of the system: nobody is told to give that away.
  const remedy = isSeen ? `give it to that user with chown ${user} ${path}` : `choose a folder of that user`
  return `${told}: run it as the owner, or ${remedy}.`
}

const existsFor = (path: string): boolean => {
  try {
    return lookAt(path) !== null
  } catch {
    return false
  }
}

const factsOf = (path: string): { readonly uid: number | null; readonly isFolder: boolean } => {
  try {
    const found = statSync(path)
    return { uid: found.uid, isFolder: found.isDirectory() }
  } catch {
    return { uid: null, isFolder: false }
  }
}

/** The folder, or the nearest around it of which this process may see anything. */
const nearestSeen = (folder: string): string =>
  folder === dirname(folder) || existsFor(folder) ? folder : nearestSeen(dirname(folder))

/** The mount point of a folder (proc_pid_mountinfo(5)); the folder itself if the system does not tell. */
const mountOf = (folder: string): string => {
  const around = mountPoints().filter((point) => point === '/' || folder === point || folder.startsWith(`${point}/`))
  return around.toSorted((one, other) => other.length - one.length)[0] ?? folder
}

/** Only Linux lists them (proc_pid_mountinfo(5)). */
export const mountPoints = (): readonly string[] => {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return lines.map((line) => unescaped(line.split(' ')[4] ?? ''))
  } catch {
    return []
  }
}

const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))

/** By the error that tells of it, if there is one: of a quota the disk itself shows nothing. */
export const noRoomSentence = (file: string, error?: unknown): string => {
  if (codeOf(error) === 'EDQUOT') return systemSentence('EDQUOT', file) ?? ''
  return lacksInodes(file)
    ? `The disk of ${file} has room but too few free inodes, as df -i ${dirname(file)} shows: remove files that are not needed.`
    : `The disk of ${file} is full, as df -h ${dirname(file)} shows: make room.`
}

/** The most files that a database has, including those that SQLite removes again at once. */
const filesOfDatabase = 8
/** SQLite makes an index of its WAL of this size before it reads anything. */
const leastBytes = 32 * 1024

/** Each file takes an inode. SQLite only reports that it could not open a file. */
export const lacksInodes = (file: string): boolean => {
  const { files, ffree, bavail } = statfsSync(dirname(file))
  return files > 0 && ffree < filesOfDatabase && bavail > 0
}

const lacksBytes = (file: string): boolean => {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize < leastBytes
}

/**
 * Why this process may not write the files of a database: its folder, its file system or its owner. Null if it may. What access(2) says
 * would be about the user who started the process, so a file is made in the folder and removed again. Expects the canonical path. A full
 * disk does not count: access can still be ended there.
 */
export const closedPlace = (file: string): string | null => {
  try {
    const user = process.geteuid?.() ?? 0
    for (const path of [file, ...Object.values(companionsOf(file))]) {
      const found = lookAt(path)
      if (found !== null && user !== 0 && found.uid !== user) return systemSentence('EACCES', path)
    }
    const probe = probeBeside(file)
    closeSync(openSync(probe, 'wx', 0o600))
    rmSync(probe)
    return null
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EROFS') return readOnlySentence(file)
    return code === 'EACCES' || code === 'EPERM' ? forbiddenSentence(dirname(file)) : null
  }
}

/** Why a database cannot be used where it is, after SQLite has failed: as `closedPlace`, or no room. Null if the file itself is at fault. */
export const placeFault = (file: string): string | null => {
  const closed = closedPlace(file)
  if (closed !== null) return closed
  try {
    return lacksInodes(file) || lacksBytes(file)
      ? noRoomSentence(file)
      : whyUnwritten(probeBeside(file), file, leastBytes)
  } catch {
    return null // the folder is gone
  }
}

/**
 * Why so many bytes cannot be written into a file of ours, which is removed afterwards: SQLite says only that writing failed. `named` is
 * the file that a person knows. Null if they can be written.
 */
const whyUnwritten = (file: string, named: string, bytes: number): string | null => {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, 'w', 0o600)
    const block = Buffer.alloc(blockBytes)
    for (let at = 0; at < bytes;) at += writeSync(descriptor, block, 0, Math.min(blockBytes, bytes - at), at)
    fsyncSync(descriptor)
    return null
  } catch (error) {
    return systemSentence(codeOf(error), named)
  } finally {
    if (descriptor !== null) closeSync(descriptor)
    rmSync(file, { force: true })
  }
}

const blockBytes = 256 * 1024

const probeBeside = (file: string): string => `${file}.${crypto.randomUUID()}.probe`

/** Whether SQLite says of a database that its content is wrong. */
export const isDamage = (error: unknown): boolean => sqliteCode(error)?.startsWith('SQLITE_CORRUPT') === true

/** Why a file could not be read, by SQLite's error: its place, the disk, or the file itself. */
export const unreadable = (file: string, error: unknown, kind: FileKind = 'database'): DatabaseUnusable => {
  const options = { cause: error }
  if (lackedDescriptors(error)) return new DatabaseUnusable('out_of_reach', noDescriptors, options)
  const code = sqliteCode(error) ?? String(codeOf(error))
  // Wrong content of a backup is no fault of its place, which may be one where nobody writes.
  const isOfContent = kind === 'backup' && /^SQLITE_(?:CORRUPT|NOTADB)/.test(code)
  const place = isOfContent ? null : placeFault(file)
  if (place !== null) return new DatabaseUnusable('out_of_reach', place, options)
  const cause = code.startsWith('SQLITE_IOERR') ? 'EIO' : code.split('_', 2).join('_')
  const ofFile = systemSentence(cause, file, kind)
  if (ofFile !== null)
    return new DatabaseUnusable(cause.startsWith('SQLITE_') ? 'damaged' : 'out_of_reach', ofFile, options)
  const sentence = `SQLite could not use ${file} (${code}), although its folder can be written: run app-platform check, and look at dmesg.`
  return new DatabaseUnusable('out_of_reach', sentence, options)
}

/** The same for any error of work on a file: no room or no readable file become a sentence, everything else stays what it is. */
export const withPlace = (file: string, error: unknown): unknown => {
  if (error instanceof DatabaseUnusable) return error
  if (lacksRoom(error)) return new DatabaseUnusable('full', noRoomSentence(file, error), { cause: error })
  return faultKind(error) === 'state_unknown' || lackedDescriptors(error) ? unreadable(file, error) : error
}

type Copying = { readonly copy: string; readonly named: string; readonly bytes: number }

/** The same for a copy of so many bytes that becomes the named file. It is removed. */
export const withPlaceOfCopy = ({ copy, named, bytes }: Copying, error: unknown): unknown => {
  const isRefused = !(error instanceof DatabaseUnusable) && sqliteCode(error)?.startsWith('SQLITE_IOERR') === true
  const unwritten = isRefused ? whyUnwritten(copy, named, bytes) : null
  return unwritten === null
    ? withPlace(named, error)
    : new DatabaseUnusable('out_of_reach', unwritten, { cause: error })
}
