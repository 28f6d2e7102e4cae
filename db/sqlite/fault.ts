import { closeSync, openSync } from 'node:fs'
import { hasCode } from '../../src/domain/error-code.ts'
import { DatabaseUnusable } from '../database.ts'

/** What an error of SQLite means for the state of the file. */
type FaultKind =
  /** Another process holds the lock, or no file descriptor is free. Nothing happened; try again. */
  | 'busy'
  /** The disk is full. SQLite rolled the whole transaction back before its commit record was complete, so the state is known. */
  | 'full'
  /** The disk or the file failed. Whether the commit was kept is only known after recovery. */
  | 'state_unknown'
  /** The statement alone is at fault: a constraint, a type, a mistake in SQL. */
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

/** The name of SQLite's result code, also if a query builder wrapped the error; null for any other error. */
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

/** SQLite does not tell why it could not open a file, so this tries to open some. */
const lacksDescriptors = (wanted = 1): boolean => {
  const opened: number[] = []
  try {
    for (let more = wanted; more > 0; more -= 1) opened.push(openSync('/dev/null', 'r'))
    return false
  } catch (error) {
    return hasCode(error, 'EMFILE', 'ENFILE')
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

/** As many files as a command has open at a time. When SQLite has failed to open one of them, it has closed the others. */
const filesOfCommand = 12

/** Whether a file of a database could not be opened because this process may open too few. */
export const lackedDescriptors = (error: unknown): boolean =>
  sqliteCode(error)?.startsWith('SQLITE_CANTOPEN') === true && lacksDescriptors(filesOfCommand)

export const noDescriptors = 'No more files may be open: raise the limit with LimitNOFILE= in the unit, or ulimit -n.'

/** Whether a file could not be opened or created because the disk is full. Then nothing was written to it. */
export const lacksRoom = (error: unknown): boolean => {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return true
  // A database is not opened without its -shm, which is the first file that does not fit.
  return faultKind(error) === 'full' || sqliteCode(error) === 'SQLITE_IOERR_SHMSIZE'
}

const longestWaitMs = 60_000

/**
 * Retries while another process holds the lock, for a start, which may have to wait for a migration elsewhere. Waits outside
 * of SQLite, at most a minute.
 * @throws DatabaseUnusable ('busy')
 */
export const patiently = async <T>(work: () => T): Promise<T> => {
  const giveUpAt = performance.now() + longestWaitMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (faultKind(error) !== 'busy') throw error
      if (lackedDescriptors(error)) throw new DatabaseUnusable('out_of_reach', noDescriptors, { cause: error })
      if (performance.now() > giveUpAt) {
        throw new DatabaseUnusable('busy', 'Another process kept the database locked for a minute.', { cause: error })
      }
      await Bun.sleep(5 + Math.random() * 20)
    }
  }
}

/**
 * Call this after a fault, instead of closing the connections. Closing the last one would copy the WAL, whose state on disk
 * is unknown, into the database, and then remove a -wal by its name, which may belong to another file by then. Bun would
 * close them as the process exits, so the process ends before that; the next start recovers as after any kill.
 * The listener keeps the connections from being collected, which would close them too.
 */
export const abandon = (...connections: readonly unknown[]): void => {
  process.once('exit', (status) => endAtOnce(status, connections))
}

/** Becomes a shell that ends with this status, for whoever started this process. Where there is none, a signal ends it. */
const endAtOnce = (status: number, _kept: readonly unknown[]): void => {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${Math.max(1, status)}`])
  } catch {
    // There is no shell.
  }
  process.kill(process.pid, 'SIGKILL')
}
