import { DatabaseUnusable } from '../database.ts'
import { Connection } from './connection.ts'
import { faultKind } from './fault.ts'
import { companionsOf, createPrivately } from './private-file.ts'

export type ServerLock = { release(): void }

/**
 * One server per file: an exclusive lock on an empty SQLite database beside it, which the kernel lets go of however the
 * process ends. Throws `DatabaseUnusable` ('in_use') when another process has it. Expects the canonical path.
 */
export const takeServerLock = (file: string): ServerLock => {
  const { lock } = companionsOf(file)
  createPrivately(lock)
  const connection = new Connection(lock, { readwrite: true, create: false })
  try {
    connection.run('PRAGMA busy_timeout = 0')
    connection.run('BEGIN EXCLUSIVE')
  } catch (error) {
    connection.close()
    if (faultKind(error) === 'state_unknown') {
      const sentence = `${lock} is not the lock of a server, whatever else it is: remove it with rm ${lock}.`
      throw new DatabaseUnusable('foreign', sentence, { cause: error })
    }
    if (faultKind(error) !== 'busy') throw error
    throw new DatabaseUnusable('in_use', `Another server is running on ${file}.`, { cause: error })
  }
  return { release: () => connection.close() }
}

/** The same lock, for a command that no server may run beside. @throws DatabaseUnusable ('in_use') */
export const lockAgainstServers = (file: string): ServerLock => {
  try {
    return takeServerLock(file)
  } catch (error) {
    if (!(error instanceof DatabaseUnusable) || error.kind !== 'in_use') throw error
    throw new DatabaseUnusable('in_use', `A server is running on ${file}: stop it first.`, { cause: error })
  }
}
