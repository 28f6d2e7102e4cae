import { parentPort } from 'node:worker_threads'
import { connect, type Connection } from './connection.ts'
import { sqliteCode } from './fault.ts'

export type CheckpointOrder = { readonly kind: 'copy'; readonly file: string } | { readonly kind: 'close' }

export type CheckpointReport =
  | { readonly kind: 'copied' | 'closed' }
  | { readonly kind: 'failed'; readonly code: string | null; readonly message: string }

// This file is the other thread of the checkpointer. It has a connection of its own, which SQLite allows beside a
// writer; the locks of all connections are those of the one process.
let connection: Connection | null = null

const obey = (order: CheckpointOrder): CheckpointReport => {
  switch (order.kind) {
    case 'copy':
      connection ??= connect(order.file, { synchronous: 'FULL', busyTimeoutMs: 50 })
      connection.value('PRAGMA wal_checkpoint(PASSIVE)')
      return { kind: 'copied' }
    case 'close':
      connection?.close()
      return { kind: 'closed' }
    default:
      return order satisfies never
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
