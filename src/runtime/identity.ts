import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The user who runs this process, from the system and not from the environment, which anyone can change. */
export const systemUser = (): string => nameOfUser(process.getuid?.())

/** The user whose rights this process has now. */
export const actingUser = (): string => nameOfUser(process.geteuid?.())

const nameOfUser = (uid: number | undefined): string => (uid === undefined ? 'unknown' : userName(uid))

/** The name of a user of this machine, or `uid:1000` for one without a name. */
export const userName = (uid: number): string => nameOf(uid) ?? `uid:${uid}`

/** In containers and with directory services, some users are not in the file. */
const nameOf = (uid: number): string | null => {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0] ?? null
  } catch {
    return null
  }
}

/**
 * Lets a command that root runs act as the owner of the file's folder from now on. The files that it creates or replaces
 * there then belong to the owner, whose server must be able to open them. Symbolic links of the owner cannot misuse root,
 * since only the owner's rights are left. For other users nothing changes.
 */
export const actAsOwnerOfFolder = (file: string): void => {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(nearestFolder(dirname(resolve(file))))
  if (uid === 0) return
  process.setgroups?.([gid])
  process.setegid?.(gid)
  process.seteuid?.(uid)
}

/** The folder, or if it does not exist, its nearest existing parent. */
const nearestFolder = (folder: string): string => (existsSync(folder) ? folder : nearestFolder(dirname(folder)))

/** `… belongs to root (mode 0600)`, if this process may read that. */
export const ownership = (path: string): string => {
  try {
    const { uid, mode } = statSync(path)
    return `${path} belongs to ${userName(uid)} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`
  } catch {
    return `${path} is out of reach`
  }
}

/**
 * A file descriptor for a file that root may read and the acting user may not; null when root did not start this process,
 * or when the file does not exist.
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
