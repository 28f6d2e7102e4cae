import { closeSync, openSync } from 'node:fs'

/** What an error of SQLite says about the state of the file. */
export type FaultKind =
  /** Another process holds the lock, or no file descriptor is free: nothing happened, try again. */
  | 'busy'
  /** No space: SQLite took back the whole transaction before its commit record was complete, so the state is known. */
  | 'full'
  /** The disk or the file failed: whether the commit is there is only known after recovery. */
  | 'state_unknown'
  /** About the statement alone: a constraint, a type, a mistake in SQL. */
  | 'statement'

const stateUnknown = [
  'SQLITE_IOERR',
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'SQLITE_PROTOCOL',
  'SQLITE_PERM',
  'SQLITE_NOLFS',
  'SQLITE_NOMEM',
] as const

/** The name of SQLite's result code, also when a query builder wrapped the error; null for any other error. */
export const sqliteCode = (error: unknown): string | null => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && cause.code.startsWith('SQLITE_')) return cause.code
  }
  return null
}

export const faultKind = (error: unknown): FaultKind => {
  const code = sqliteCode(error)
  if (code === null) return 'statement'
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy'
  if (code.startsWith('SQLITE_FULL')) return 'full'
  if (code.startsWith('SQLITE_CANTOPEN') && lacksDescriptors()) return 'busy'
  return stateUnknown.some((prefix) => code.startsWith(prefix)) ? 'state_unknown' : 'statement'
}

/** SQLite does not say why it could not open a file. */
const lacksDescriptors = (): boolean => {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')
  }
}

/** Whether a file could not be opened or made for want of space; nothing was written to it then. */
export const lacksRoom = (error: unknown): boolean => {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) return true
  // The -shm, which a file is not opened without, is the first that finds no room.
  return faultKind(error) === 'full' || sqliteCode(error) === 'SQLITE_IOERR_SHMSIZE'
}
