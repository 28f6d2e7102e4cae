import { closeSync, existsSync, openSync, readSync, realpathSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Lets a command that root runs act as the owner of the file's folder from now on. The files that it creates or replaces
 * there then belong to the owner, whose server must be able to open them. Symbolic links of the owner cannot misuse root,
 * since only the owner's rights are left. For other users nothing changes.
 */
export const actAsOwnerOfFolder = (file: string): void => {
  if (process.geteuid?.() !== 0) return
  // A link in a folder of root may lead into the folder of the owner. One in the folder of the owner leads nowhere as root.
  const places = [resolve(file), ...(existsSync(file) ? [realpathSync(file)] : [])]
  const owner = places.map((place) => statSync(nearestFolder(dirname(place)))).find(({ uid }) => uid !== 0)
  if (owner === undefined) return
  process.setgroups?.([owner.gid])
  process.setegid?.(owner.gid)
  process.seteuid?.(owner.uid)
}

/** The folder, or if it does not exist, its nearest existing parent. */
const nearestFolder = (folder: string): string => (existsSync(folder) ? folder : nearestFolder(dirname(folder)))

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
