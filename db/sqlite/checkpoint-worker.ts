import { fdatasyncSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { connect, type Connection } from './connection.ts'
import { sqliteCode } from './fault.ts'
import { descriptorOf } from './files.ts'

/** `file` begins the work; null ends it. */
export type CheckpointOrder = { readonly file: string; readonly afterPages: number } | null
/** Null: the connection is closed. */
export type CheckpointReport = { readonly code: string | null; readonly message: string } | null

/** How often the length of the WAL is looked at. */
const lookMs = 50
/** How few pages are copied while writers wait, and how often pages are copied before that at most. */
const shortRest = 64
const mostPasses = 3

type Progress = { readonly log: number; readonly checkpointed: number }

/**
 * Copies committed pages into the database beside the writer, pass by pass: each leaves what was written meanwhile, which gets less and
 * less. The rest is copied under the write lock, so that the WAL starts over. The queue waits for that as for any other writer.
 */
const keepShort = (connection: Connection, file: string, afterPages: number) => {
  const look = connection.prepare<Progress, []>('PRAGMA wal_checkpoint(NOOP)')
  let dueAt = afterPages
  let logBefore = 0
  return (): void => {
    const { log, checkpointed } = look.get() ?? { log: 0, checkpointed: 0 }
    const isQuiet = log === logBefore && log >= afterPages
    logBefore = log
    if (checkpointed >= log || (log < dueAt && !isQuiet)) return
    let rest = log - checkpointed
    for (let pass = 0; pass < mostPasses && (pass === 0 || rest > shortRest); pass += 1)
      rest = copy(connection, look, file)
    if (rest > 0) connection.value('PRAGMA wal_checkpoint(FULL)')
    const after = look.get() ?? { log: 0, checkpointed: 0 }
    // If another process still reads the rest, as a backup does, the WAL may grow by as much again before the next attempt.
    dueAt = (after.checkpointed < after.log ? after.log : 0) + afterPages
  }
}

/**
 * SQLite syncs the database only once the whole WAL is copied, and under the write lock that took 35 to 80 ms. So the pages are synced
 * here, while the writer goes on, and the last sync finds little to do. Returns how many pages are left.
 */
const copy = (connection: Connection, look: { get(): Progress | null }, file: string): number => {
  connection.value('PRAGMA wal_checkpoint(PASSIVE)')
  const descriptor = descriptorOf(file)
  try {
    if (descriptor !== null) fdatasyncSync(descriptor)
  } catch (cause) {
    // Linux reports the error once per descriptor, so SQLite's own sync would not see it any more.
    throw Object.assign(new Error('The database file could not be synced.', { cause }), { code: 'SQLITE_IOERR_FSYNC' })
  }
  const { log, checkpointed } = look.get() ?? { log: 0, checkpointed: 0 }
  return log - checkpointed
}

const tell = (report: CheckpointReport): void => parentPort?.postMessage(report, [])
let connection: Connection | null = null
let timer: ReturnType<typeof setInterval> | undefined

const tried = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    tell({ code: sqliteCode(error), message: error instanceof Error ? error.message : String(error) })
  }
}

parentPort?.on('message', (order: CheckpointOrder) => {
  if (order === null) {
    clearInterval(timer)
    connection?.close()
    return tell(null)
  }
  const { file, afterPages } = order
  let work: (() => void) | null = null
  const step = () => {
    if (work === null) {
      connection ??= connect(file, { busyTimeoutMs: 50 })
      connection.value('SELECT count(*) FROM sqlite_schema') // opens the -wal and the -shm now: later no descriptor may be free
      work = keepShort(connection, file, afterPages)
    }
    work()
  }
  tried(step)
  timer = setInterval(() => tried(step), lookMs)
})
