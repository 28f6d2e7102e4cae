import { closeSync, openSync, rmSync, type Stats, statSync } from 'node:fs'
import { stagedName } from '../../db/restore.ts'
import { hasCode } from '../runtime/cause.ts'
import { actingUser, copyAsRoot, ownership } from '../runtime/identity.ts'
import { CommandFailed } from './output.ts'

/**
 * Runs the work on a backup that the acting user can read. A backup that only root can read is copied first, into a
 * private file beside the database, which is removed afterwards.
 */
export const withReadableBackup = async <T>(
  backup: string,
  database: string,
  work: (readable: string) => Promise<T>,
): Promise<T> => {
  assertRegular(backup)
  if (mayRead(backup)) return await work(backup)
  const staged = stagedName(database)
  try {
    if (!copyAsRoot(backup, staged)) {
      throw new CommandFailed([
        `${actingUser()} may not read the backup: ${ownership(backup)}. Run the command as its owner or as root.`,
      ])
    }
    copyAsRoot(`${backup}-wal`, `${staged}-wal`)
    return await work(staged)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(staged + suffix, { force: true })
  }
}

/** To open a pipe would wait for its writer. */
const assertRegular = (path: string): void => {
  if (lookAt(path)?.isFile() !== false) return
  throw new CommandFailed([`${path} is a folder, a pipe or a device, not the file of a backup.`])
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
