import { randomFillSync } from 'node:crypto'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { companionsOf } from './private-file.ts'

export type RoomOptions = {
  readonly file: string
  /** How much is kept for ending access; none by default. */
  readonly reserveBytes: number | undefined
  /** Called with a sentence for the operator when the disk is full, and with null when it is no more. */
  readonly told: (reason: string | null) => void
}

/**
 * Whether the disk has room for the database. Some of it is kept in a file of its own, which is given up when the disk is
 * full, so that access can still be ended; the disk is full until that much could be laid aside again.
 */
export class Room {
  readonly #reserve: string
  #isFull = false

  constructor(private readonly options: RoomOptions) {
    this.#reserve = companionsOf(options.file).reserve
    if (!this.#keepReserve()) this.ranOut()
  }

  /** Why nothing is written but what ends access; null when there is room. */
  get reason(): string | null {
    return this.#isFull
      ? `The disk of ${this.options.file} is full: make room. Until then access can be ended, as long as that fits, and nothing else is written.`
      : null
  }

  /** Something did not fit. True when there is room now, for ending access alone. */
  ranOut(): boolean {
    if (!this.#isFull) {
      this.#isFull = true
      this.options.told(this.reason)
    }
    const wasKept = existsSync(this.#reserve)
    rmSync(this.#reserve, { force: true })
    return wasKept
  }

  /** Looks whether there is room again, for the reserve and then for a write: the disk must take both before we say so. */
  async look(write: () => Promise<unknown>): Promise<void> {
    if (!this.#isFull || !this.#keepReserve()) return
    const fits = await write().then(
      () => true,
      () => false,
    )
    if (!fits) return
    this.#isFull = false
    this.options.told(null)
  }

  /** False when there is no room for it; what cannot be kept for other reasons is done without. */
  #keepReserve(): boolean {
    const { reserveBytes } = this.options
    if (reserveBytes === undefined) return true
    if (statSync(this.#reserve, { throwIfNoEntry: false })?.size === reserveBytes) return true
    try {
      // Of zeros a file system might keep nothing.
      writeFileSync(this.#reserve, randomFillSync(Buffer.alloc(reserveBytes)), { mode: 0o600 })
      return true
    } catch (error) {
      rmSync(this.#reserve, { force: true })
      return !isNoRoom(error)
    }
  }
}

const isNoRoom = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
