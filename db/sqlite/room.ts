import { randomFillSync } from 'node:crypto'
import { lstatSync, rmSync, writeFileSync } from 'node:fs'
import { lacksRoom } from './fault.ts'
import { companionsOf } from './private-file.ts'

export type RoomOptions = {
  readonly file: string
  /** How much is kept for ending access; none by default. */
  readonly reserveBytes: number | undefined
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

  /**
   * Something did not fit. True when there is room now, for ending access alone. Whoever keeps no reserve takes another's
   * for nothing else.
   */
  ranOut(endsAccess = false): boolean {
    this.#isFull = true
    return (endsAccess || this.options.reserveBytes !== undefined) && giveUpReserve(this.options.file)
  }

  /**
   * Looks whether the reserve is still there, which others may take, and on a full disk whether there is room again: for the
   * reserve and then for a write, both of which the disk must take before we say so.
   */
  async look(write: () => Promise<unknown>): Promise<void> {
    const isKept = this.#keepReserve()
    if (!isKept && !this.#isFull) this.ranOut()
    if (!isKept || !this.#isFull) return
    const fits = await write().then(
      () => true,
      () => false,
    )
    if (!fits) return
    this.#isFull = false
  }

  /** False when there is no room for it; what cannot be kept for other reasons is done without. */
  #keepReserve(): boolean {
    const { file, reserveBytes } = this.options
    if (reserveBytes === undefined || bytesKept(this.#reserve) === reserveBytes) return true
    try {
      // Made anew: a link would lead to another's file, and a pipe would be waited for.
      rmSync(this.#reserve, { force: true })
      // Of zeros a file system might keep nothing.
      writeFileSync(this.#reserve, randomFillSync(Buffer.alloc(reserveBytes)), { flag: 'wx', mode: 0o600 })
      return true
    } catch (error) {
      giveUpReserve(file)
      return !lacksRoom(error)
    }
  }
}

/**
 * Opens a database, on a full disk with the room that is kept beside it: without what SQLite makes beside the file no access
 * could be ended.
 */
export const withRoom = async <T>(file: string, open: () => Promise<T>): Promise<T> => {
  try {
    return await open()
  } catch (error) {
    if (!lacksRoom(error) || !giveUpReserve(file)) throw error
    return await open()
  }
}

/** Makes the room free that is kept beside the database; false where none was kept. */
const giveUpReserve = (file: string): boolean => {
  const { reserve } = companionsOf(file)
  if (bytesKept(reserve) === null) return false
  rmSync(reserve, { force: true })
  return true
}

/** Null for what is no file of its own. */
const bytesKept = (reserve: string): number | null => {
  const found = lstatSync(reserve, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.size : null
}
