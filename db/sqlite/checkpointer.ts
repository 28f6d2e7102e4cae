import type { CheckpointOrder, CheckpointReport } from './checkpoint-worker.ts'
import { startThread } from './thread.ts'

type CheckpointerOptions = {
  readonly file: string
  /** How many pages in the WAL make a checkpoint worth its syncs. */
  readonly afterPages: number
  readonly failed: (error: unknown) => void
}

/** Soon after the start, which it must not hold up. */
const startMs = 500

/** Keeps the WAL short without stopping the event loop: a thread copies committed pages into the database. */
export class Checkpointer {
  #worker: Worker | null = null
  #timer: ReturnType<typeof setTimeout>
  #closed = Promise.withResolvers<void>()

  constructor(private readonly options: CheckpointerOptions) {
    this.#timer = this.#startLater()
  }

  /** Ends the thread and closes its connection. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#worker === null) return
    this.#send(null)
    await this.#closed.promise
    this.#worker?.terminate()
  }

  #startLater(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#start(), startMs).unref()
  }

  #send(order: CheckpointOrder): void {
    this.#worker?.postMessage(order, [])
  }

  #start(): void {
    const { file, afterPages, failed } = this.options
    const worker = (this.#worker = startThread('checkpoint-worker.ts'))
    worker.unref()
    worker.addEventListener('message', ({ data: report }: MessageEvent<CheckpointReport>) => {
      if (report === null) this.#closed.resolve()
      else failed(Object.assign(new Error(report.message), { code: report.code }))
    })
    worker.addEventListener('error', ({ message }) => {
      worker.terminate()
      this.#worker = null
      this.#closed.resolve()
      failed(new Error(message))
      this.#timer = this.#startLater()
    })
    this.#send({ file, afterPages })
  }
}
