import type { CheckpointOrder, CheckpointReport } from './checkpoint-worker.ts'
import { connect, type Connection } from './connection.ts'
import { startThread } from './thread.ts'

/** How many commits lie between two looks at the length of the WAL. */
const lookEvery = 16

/** How few pages may be left for the batch that waits, and after how many passes it waits for any number. */
const shortRest = 64
const passesBeside = 3

type Progress = { readonly log: number; readonly checkpointed: number }

/** A checkpoint failed in the worker. `code` is the name of SQLite's result code. */
class CheckpointFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'CheckpointFailed'
  }
}

/**
 * Keeps the WAL short without stopping the event loop: a worker copies committed pages into the database. It could never catch
 * up with a busy writer, and the WAL starts over only once all of it is copied, so the last few pages are copied while the
 * next batch of transactions waits, for two short syncs. The worker starts soon after the server and opens all its files at
 * once, because later no file descriptor may be free.
 */
export class Checkpointer {
  readonly #connection: Connection
  readonly #look: () => Progress
  readonly #copyHere: () => void
  #worker: Worker | null = null
  #state: 'idle' | 'copying' | 'rest_due' = 'idle'
  #commits = 0
  #commitsSeen = 0
  #dueAt: number
  #report: (report: CheckpointReport) => void = () => {}

  constructor(
    private readonly options: {
      readonly file: string
      /** How many pages in the WAL make a checkpoint worth its syncs. */
      readonly afterPages: number
      readonly failed: (error: unknown) => void
    },
  ) {
    this.#dueAt = options.afterPages
    this.#connection = connect(options.file, { busyTimeoutMs: 50 })
    const look = this.#connection.prepare<Progress, []>('PRAGMA wal_checkpoint(NOOP)')
    const copy = this.#connection.prepare<unknown, []>('PRAGMA wal_checkpoint(PASSIVE)')
    this.#copyHere = () => void copy.run()
    this.#look = () => this.#tried(() => look.get()) ?? { log: 0, checkpointed: 0 }
  }

  /** Called after each commit. The next commit waits for the promise, if any. */
  committed(): Promise<void> | null {
    this.#commits += 1
    if (this.#state === 'rest_due') return this.#copy('idle')
    if (this.#commits % lookEvery === 0) this.#consider()
    return null
  }

  /** Starts a checkpoint if the WAL has grown long, by whichever process. */
  #consider(): void {
    if (this.#state === 'idle' && this.#isDue(this.#look())) void this.#copy('rest_due')
  }

  /** Called from time to time. Without it, the rest of a long WAL would stay when nothing more is written. */
  considerAtRest(): void {
    if (this.#state === 'copying') return
    if (this.#worker === null) return void this.#open()
    const progress = this.#look()
    const isLeft = progress.log >= this.options.afterPages && progress.checkpointed < progress.log
    const isQuiet = this.#commits === this.#commitsSeen
    this.#commitsSeen = this.#commits
    if (isQuiet ? isLeft : this.#state === 'idle' && this.#isDue(progress)) void this.#copy('rest_due')
  }

  /** Ends the worker and closes the file. */
  async close(): Promise<void> {
    while (this.#state === 'copying') await Bun.sleep(1)
    if (this.#worker) await this.#order({ kind: 'close' })
    this.#end()
    this.#connection.close()
  }

  #isDue({ log, checkpointed }: Progress): boolean {
    return log >= this.#dueAt && checkpointed < log
  }

  async #open(): Promise<void> {
    this.#state = 'copying'
    const report = await this.#order({ kind: 'open', file: this.options.file })
    this.#state = 'idle'
    if (report.kind === 'failed' && report.code !== null)
      this.options.failed(new CheckpointFailed(report.code, report.message))
  }

  async #copy(next: 'rest_due' | 'idle'): Promise<void> {
    this.#state = 'copying'
    const { log, checkpointed } = await this.#passes(next === 'rest_due' ? passesBeside : 1)
    this.#state = checkpointed < log ? next : 'idle'
    // If another process still reads the rest, as a backup does, the WAL may grow by as much again before the next attempt.
    this.#dueAt = (checkpointed < log ? log : 0) + this.options.afterPages
  }

  /** Copies until little is left: each pass leaves what was written during it, which gets less and less. */
  async #passes(left: number): Promise<Progress> {
    await this.#copyBeside().catch(this.options.failed)
    const progress = this.#look()
    const isShort = progress.log - progress.checkpointed <= shortRest
    return isShort || left === 1 ? progress : await this.#passes(left - 1)
  }

  #tried<T>(look: () => T): T | null {
    try {
      return look()
    } catch (error) {
      this.options.failed(error)
      return null
    }
  }

  async #copyBeside(): Promise<void> {
    const report = await this.#order({ kind: 'copy', file: this.options.file })
    if (report.kind !== 'failed') return
    // The worker has ended. A slow server is better than a WAL that grows without end.
    if (report.code === null) return this.#copyHere()
    throw new CheckpointFailed(report.code, report.message)
  }

  #order(order: CheckpointOrder): Promise<CheckpointReport> {
    this.#worker ??= this.#start()
    this.#worker.postMessage(order, [])
    return new Promise((resolve) => (this.#report = resolve))
  }

  #start(): Worker {
    const worker = startThread('checkpoint-worker.ts')
    worker.unref()
    worker.addEventListener('message', ({ data }: MessageEvent<CheckpointReport>) => this.#report(data))
    worker.addEventListener('error', ({ message }) => {
      this.#end()
      this.#report({ kind: 'failed', code: null, message })
    })
    return worker
  }

  #end(): void {
    this.#worker?.terminate()
    this.#worker = null
  }
}
