import { fdatasyncSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { connect, type Connection } from './connection.ts'
import { sqliteCode } from './fault.ts'
import { descriptorOf } from './files.ts'

export type CheckpointOrder = { readonly kind: 'open' | 'copy'; readonly file: string } | { readonly kind: 'close' }

export type CheckpointReport =
  | { readonly kind: 'opened' | 'copied' | 'closed' }
  | { readonly kind: 'failed'; readonly code: string | null; readonly message: string }

// The worker of the checkpointer. It has a connection of its own, which SQLite allows beside a writer; all connections of a
// process share its locks.
let connection: Connection | null = null

const obey = (order: CheckpointOrder): CheckpointReport => {
  switch (order.kind) {
    case 'open':
      opened(order.file)
      return { kind: 'opened' }
    case 'copy':
      copy(opened(order.file), order.file)
      return { kind: 'copied' }
    case 'close':
      connection?.close()
      return { kind: 'closed' }
    default:
      return order satisfies never
  }
}

/** The first read opens the -wal and the -shm. */
const opened = (file: string): Connection => {
  if (connection !== null) return connection
  const made = connect(file, { busyTimeoutMs: 50 })
  try {
    made.value('SELECT count(*) FROM sqlite_schema')
  } catch (error) {
    made.close()
    throw error
  }
  return (connection = made)
}

/**
 * Copies what is committed. SQLite syncs the database only once the whole WAL is copied. Done together with the last few pages,
 * for which the next batch waits, that sync took 35 to 80 ms with pages all over a large file. So the pages are synced here,
 * while the writer goes on, and the last sync finds little to do.
 */
const copy = (connection: Connection, file: string): void => {
  connection.value('PRAGMA wal_checkpoint(PASSIVE)')
  const descriptor = descriptorOf(file)
  if (descriptor === null) return
  try {
    fdatasyncSync(descriptor)
  } catch (error) {
    // Linux reports the error once per descriptor, so SQLite's own sync would not see it any more.
    throw new SyncFailed(error)
  }
}

class SyncFailed extends Error {
  readonly code = 'SQLITE_IOERR_FSYNC'
  constructor(cause: unknown) {
    super('The database file could not be synced.', { cause })
  }
}

const report = (order: CheckpointOrder): CheckpointReport => {
  try {
    return obey(order)
  } catch (error) {
    return { kind: 'failed', code: sqliteCode(error), message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (order: CheckpointOrder) => parentPort?.postMessage(report(order), []))
