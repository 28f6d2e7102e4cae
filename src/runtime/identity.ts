import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Who runs this process, as the machine knows it: not from the environment, where anyone may write any name. */
export const systemUser = (): string => {
  const uid = process.getuid?.()
  return uid === undefined ? 'unknown' : userName(uid)
}

/** The name of a user of this machine, or `uid:1000` for one that has none. */
export const userName = (uid: number): string => nameOf(uid) ?? `uid:${uid}`

/** A container, or a machine with a directory service, has users that are not in the file. */
const nameOf = (uid: number): string | null => {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0] ?? null
  } catch {
    return null
  }
}

/**
 * Lets a command that root runs act as the owner of the folder that a file is in, from here on, so that whatever it makes or
 * replaces there belongs to the owner, whose server has to open it. No symbolic link that the owner puts there leads root
 * anywhere, since the owner's own rights are all that is left. Everybody else acts as themselves.
 */
export const actAsOwnerOfFolder = (file: string): void => {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(nearestFolder(dirname(resolve(file))))
  if (uid === 0) return
  process.setgroups?.([gid])
  process.setegid?.(gid)
  process.seteuid?.(uid)
}

/** The folder, or where there is none yet, the one in which it would be made. */
const nearestFolder = (folder: string): string => (existsSync(folder) ? folder : nearestFolder(dirname(folder)))

/** The user whose rights this process has now. */
export const actingUser = (): string => {
  const uid = process.geteuid?.()
  return uid === undefined ? 'unknown' : userName(uid)
}

/** `… belongs to root (mode 0600)`, as far as this process may look. */
export const ownership = (path: string): string => {
  try {
    const { uid, mode } = statSync(path)
    return `${path} belongs to ${userName(uid)} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`
  } catch {
    return `${path} is out of reach`
  }
}

/**
 * A file descriptor to read a file that root may read and the acting user may not; null when root did not start this process
 * or there is no such file.
 */
const openAsRoot = (path: string): number | null => {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0]
  if (uid === 0 || process.getuid?.() !== 0) return null
  process.seteuid?.(0)
  try {
    return existsSync(path) ? openSync(path, 'r') : null
  } finally {
    process.setegid?.(gid)
    process.seteuid?.(uid)
  }
}

/** Copies a file that only root may read into a new private one of the acting user. False when root cannot help. */
export const copyAsRoot = (from: string, to: string): boolean => {
  const source = openAsRoot(from)
  if (source === null) return false
  try {
    const target = openSync(to, 'wx', 0o600)
    try {
      const piece = Buffer.alloc(1024 * 1024)
      for (;;) {
        const read = readSync(source, piece)
        if (read === 0) return true
        for (let written = 0; written < read;) written += writeSync(target, piece, written, read - written)
      }
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}
