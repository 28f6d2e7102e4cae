import type { Connection } from './connection.ts'

type Progress = { readonly busy: number; readonly log: number; readonly checkpointed: number }

/** Pages in the WAL (4 KiB each) that make a checkpoint worth its two syncs. */
const duePages = 2_000
/** Commits between two looks at the size of the WAL. */
const lookEvery = 16

/**
 * Moves committed pages from the WAL into the database, between transactions, on the writing connection: once nothing is left
 * to move, the next commit starts the WAL from its beginning instead of growing it.
 */
export class Checkpointer {
  #commits = 0
  #pending = false

  constructor(private readonly connection: () => Connection) {}

  /** After each commit. */
  committed(): void {
    this.#pending = true
    this.#commits += 1
    if (this.#commits % lookEvery === 0 && this.#progress('NOOP').log >= duePages) this.run()
  }

  /** When the server is at rest. */
  idle(): void {
    if (this.#pending) this.run()
  }

  run(): void {
    const { log, checkpointed } = this.#progress('PASSIVE')
    this.#pending = checkpointed < log
  }

  /** Before the file is let go of: leaves an empty WAL, unless another process is using it. */
  finish(): void {
    this.#progress('TRUNCATE')
  }

  #progress(mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): Progress {
    using statement = this.connection().prepare<Progress, []>(`PRAGMA wal_checkpoint(${mode})`)
    return statement.get() ?? { busy: 1, log: 0, checkpointed: 0 }
  }
}
