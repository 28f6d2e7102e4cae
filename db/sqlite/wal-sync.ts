import { closeSync, fdatasync, openSync } from 'node:fs'

/**
 * Makes commits durable without stopping the event loop. The writing connection commits with `synchronous = NORMAL`,
 * which writes the whole commit to the WAL but leaves it to the system; a sync of the WAL that begins after COMMIT
 * returned covers it. That is what FULL does, a few lines later:
 * - A checkpoint, by whichever process, syncs the WAL before it copies from it, and the database before it counts pages
 *   as copied. So a commit whose frames were checkpointed before our sync is durable already.
 * - The WAL restarts only when all of it was copied and synced; its new header is synced at NORMAL too, before new
 *   frames.
 * - A sync that fails, here or in another process, is reported once to each open descriptor, so also to this one (Linux
 *   ≥ 4.13). What it covered is unknown from then on; the caller must stop writing. The WAL is never removed while a
 *   connection is open, and SQLite takes no POSIX lock on it, so holding it open is safe. The database file and its
 *   -shm must never be opened this way: closing them would drop SQLite's locks.
 */
export class WalSync {
  readonly #descriptor: number

  constructor(
    wal: string,
    private readonly took: (milliseconds: number) => void = () => undefined,
  ) {
    this.#descriptor = openSync(wal, 'r+')
  }

  sync(): Promise<void> {
    const began = performance.now()
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        this.took(performance.now() - began)
        if (error) reject(error)
        else resolve()
      })
    })
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
