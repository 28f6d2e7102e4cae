import { dirname } from 'node:path'
import { DatabaseUnusable } from '../database.ts'
import { connect, Connection } from './connection.ts'
import { faultKind } from './fault.ts'
import { companionsOf, createPrivately } from './files.ts'
import { assertNotMoved } from './servable.ts'
import { removeLeftovers } from './temporary.ts'
import { placeFault, withPlace } from '../faults/system.ts'

/**
 * One server per file: an exclusive lock on an empty SQLite database beside it, which the kernel releases however the
 * process ends. Expects the canonical path. Closing the connection releases the lock.
 * @throws DatabaseUnusable ('in_use') if another process holds it
 */
export const takeServerLock = (file: string): Connection => {
  const { lock } = companionsOf(file)
  createPrivately(lock)
  const connection = new Connection(lock, { readwrite: true, create: false })
  try {
    connection.run('PRAGMA busy_timeout = 0')
    connection.run('BEGIN EXCLUSIVE')
  } catch (error) {
    connection.close()
    if (faultKind(error) === 'state_unknown') {
      const place = placeFault(file)
      if (place !== null) throw new DatabaseUnusable('out_of_reach', place, { cause: error })
      const sentence = `${lock} is not the lock of a server: remove it with rm ${lock}.`
      throw new DatabaseUnusable('foreign', sentence, { cause: error })
    }
    if (faultKind(error) !== 'busy') throw error
    throw new DatabaseUnusable('in_use', `Another server is running on ${file}.`, { cause: error })
  }
  removeLeftovers(dirname(file))
  return connection
}

/** The same lock, for a command that needs the server to be stopped. @throws DatabaseUnusable ('in_use') */
export const lockAgainstServers = (file: string): Connection => {
  try {
    return takeServerLock(file)
  } catch (error) {
    if (!(error instanceof DatabaseUnusable) || error.kind !== 'in_use') throw withPlace(file, error)
    throw new DatabaseUnusable('in_use', `A server is running on ${file}: stop it first.`, { cause: error })
  }
}

/**
 * A connection that keeps every other process out of the database until it is closed. Expects the server's lock to be held.
 * @throws DatabaseUnusable ('busy') while another command uses the database, ('moved', 'sealed') unless `moved` is allowed
 */
export const connectAlone = (database: string, options: { readonly allowMoved?: boolean } = {}): Connection => {
  const connection = connect(database)
  try {
    connection.value('PRAGMA main.locking_mode = EXCLUSIVE')
    connection.run('BEGIN EXCLUSIVE')
    if (options.allowMoved !== true) assertNotMoved(connection, database)
    connection.run('COMMIT')
    return connection
  } catch (error) {
    connection.close()
    if (faultKind(error) !== 'busy') throw error
    const sentence = `Another process is using ${database}: try again when it is done.`
    throw new DatabaseUnusable('busy', sentence, { cause: error })
  }
}
