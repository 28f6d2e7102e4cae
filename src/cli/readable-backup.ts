import { closeSync, openSync, type Stats, statSync } from 'node:fs'
import { isPostgresUrl } from '../../db/postgres/address.ts'
import { temporaryFile } from '../../db/sqlite/temporary.ts'
import { actingUser, ownership } from '../../db/faults/system.ts'
import { hasCode } from '../domain/error-code.ts'
import { copyAsRoot } from '../runtime/identity.ts'
import { CommandFailed } from './output.ts'

/**
 * Runs the work on a backup that the acting user can read. A backup that only root can read is copied first, to a
 * private file beside `neighbour`, which is removed afterwards.
 */
export const withReadableBackup = async <T>(
  backup: string,
  neighbour: () => string,
  work: (readable: string) => Promise<T>,
): Promise<T> => {
  assertIsFile(backup)
  if (mayRead(backup)) return await work(backup)
  using copy = temporaryFile(neighbour())
  if (!copyAsRoot(backup, copy.path)) {
    throw refused(
      `${actingUser()} may not read the backup: ${ownership(backup)}. Run the command as its owner or as root.`,
    )
  }
  copyAsRoot(`${backup}-wal`, `${copy.path}-wal`)
  return await work(copy.path)
}

const refused = (sentence: string) => new CommandFailed([sentence])

/** To open a pipe would wait for its writer. A URL is not repeated, because it may have a password. */
const assertIsFile = (path: string): void => {
  if (path === '-') throw refused('A backup is not read from standard input: write it to a file, and name the file.')
  if (isPostgresUrl(path))
    throw refused('The URL of a database is not the file of a backup. Name a database with --database or DATABASE_URL.')
  const found = lookAt(path)
  if (found?.isFile() === false) throw refused(`${path} is a folder, a pipe or a device, not the file of a backup.`)
}

/** Null when it is not there, or the folder may not be read by this user. */
const lookAt = (path: string): Stats | null => {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** Opens the file, because access(2) checks the user who started the process. A missing file is reported by the work. */
const mayRead = (path: string): boolean => {
  try {
    closeSync(openSync(path, 'r'))
    return true
  } catch (error) {
    return !hasCode(error, 'EACCES')
  }
}
