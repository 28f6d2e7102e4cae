import { DatabaseUnusable } from '../database.ts'
import { connect, type Connection } from './connection.ts'
import { faultKind } from './fault.ts'
import { assertNotMoved } from './moved.ts'

/**
 * A connection that keeps every other process out of the database until it is closed, for a command that no other may run
 * beside. Expects the server's lock to be held.
 * @throws DatabaseUnusable ('busy') while another command uses the database, ('moved', 'sealed') unless `moved` is allowed
 */
export const connectAlone = (database: string, options: { readonly allowMoved?: boolean } = {}): Connection => {
  const connection = connect(database, { synchronous: 'FULL', busyTimeoutMs: 1_000 })
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
