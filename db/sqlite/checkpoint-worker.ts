import { fdatasyncSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { connect, type Connection } from './connection.ts'
import { sqliteCode } from './fault.ts'
import { descriptorOf, freeBytesBeside } from './files.ts'

/** `file` begins the work; null ends it. */
export type CheckpointOrder = { readonly file: string; readonly afterPages: number } | null
/** Null: the connection is closed. */
export type CheckpointReport = { readonly code: string | null; readonly message: string } | null

/** How often the length of the WAL is looked at. */
const lookMs = 50
/** How few pages are copied while writers wait, and how often pages are copied before that at most. */
const shortRest = 64
const mostPasses = 3

/** How long the WAL may have pages before it is emptied or starts over. */
const longestKeptMs = 5_000
/** On a fuller disk the WAL keeps its room: access is ended in it when nothing else can be written. */
const leastFreeBytes = 64 * 1024 ** 2
/** If another process, such as a backup, keeps the WAL from being emptied, the next attempt is later each time. */
const longestPauseMs = 60_000

type Progress = { readonly busy: number; readonly log: number; readonly checkpointed: number }

/**
 * Copies committed pages into the database beside the writer, pass by pass: each leaves what was written meanwhile, which gets less and
 * less. The rest is copied under the write lock, so that the WAL starts over. The queue waits for that as for any other writer.
 *
 * What is removed from the database, such as a person's address or a key, stays in earlier copies of its pages in the WAL. So a WAL that
 * has not started over for some seconds is emptied. One that starts over more often overwrites all its pages soon.
 */
const keepShort = (connection: Connection, file: string, afterPages: number) => {
  const look = connection.prepare<Progress, []>('PRAGMA wal_checkpoint(NOOP)')
  const empty = connection.prepare<Progress, []>('PRAGMA wal_checkpoint(TRUNCATE)')
  let dueAt = afterPages
  let logBefore = 0
  /** When the WAL is emptied; null if it is empty. */
  let emptyAt: number | null = null
  let pauseMs = longestKeptMs
  const copyMost = (log: number, checkpointed: number): number => {
    let rest = log - checkpointed
    for (let pass = 0; pass < mostPasses && (pass === 0 ? rest > 0 : rest > shortRest); pass += 1)
      rest = copy(connection, look, file)
    return rest
  }
  return (): void => {
    const { log, checkpointed } = look.get() ?? nothing
    const isQuiet = log === logBefore && log >= afterPages
    const hasStartedOver = log < logBefore
    logBefore = log
    if (log === 0) return void (emptyAt = null)
    const now = performance.now()
    if (emptyAt === null || hasStartedOver) {
      emptyAt = now + longestKeptMs
      pauseMs = longestKeptMs
    }
    if (now >= emptyAt) {
      copyMost(log, checkpointed)
      const hasRoom = (freeBytesBeside(file) ?? 0) >= leastFreeBytes
      if (hasRoom && empty.get()?.busy === 0) return void (emptyAt = null)
      emptyAt = now + pauseMs
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    } else if (checkpointed < log && (log >= dueAt || isQuiet)) {
      if (copyMost(log, checkpointed) > 0) connection.value('PRAGMA wal_checkpoint(FULL)')
      const after = look.get() ?? nothing
      // If another process still reads the rest, as a backup does, the WAL may grow by as much again before the next attempt.
      dueAt = (after.checkpointed < after.log ? after.log : 0) + afterPages
    }
  }
}

const nothing: Progress = { busy: 0, log: 0, checkpointed: 0 }

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
  const { log, checkpointed } = look.get() ?? nothing
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
