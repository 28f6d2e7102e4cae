import { randomFillSync } from 'node:crypto'
import { lstatSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseUnusable } from '../database.ts'
import { lacksRoom, sqliteCode } from './fault.ts'
import { companionsOf } from './files.ts'
import { lacksInodes, noRoomSentence } from './system-fault.ts'

/**
 * Whether the disk has room for the database. A reserve is kept in a file of its own, which is removed when the disk is full,
 * so that access can still be ended. The disk counts as full until the reserve fits again.
 */
export class Room {
  readonly #reserve: string
  #isFull = false

  constructor(
    /** `reserveBytes` is the size of the reserve for ending access; no reserve by default. */
    private readonly options: { readonly file: string; readonly reserveBytes: number | undefined },
  ) {
    this.#reserve = companionsOf(options.file).reserve
    if (!this.#keepReserve()) this.ranOut()
  }

  /** Why only transactions that end access are accepted; null if there is room. */
  get reason(): string | null {
    return this.#isFull
      ? `${noRoomSentence(this.options.file)} Until then access can be ended, as long as that fits, and nothing else is written.`
      : null
  }

  /**
   * Called when something did not fit. True if there is room now for ending access. A process without a reserve of its own
   * uses that of another one only for ending access.
   */
  ranOut(endsAccess = false): boolean {
    this.#isFull = true
    return (endsAccess || this.options.reserveBytes !== undefined) && giveUpReserve(this.options.file)
  }

  /**
   * Checks whether the reserve is still there, which other processes may use, and on a full disk whether there is room again:
   * the reserve and then a write must fit.
   */
  async look(write: () => Promise<unknown>): Promise<void> {
    const isKept = this.#keepReserve()
    if (!isKept && !this.#isFull) this.ranOut()
    if (!isKept || !this.#isFull) return
    await write().then(
      () => (this.#isFull = false),
      () => undefined, // it does not fit
    )
  }

  /** False if there is no room for it. If it cannot be kept for another reason, there is no reserve. */
  #keepReserve(): boolean {
    const { file, reserveBytes } = this.options
    if (reserveBytes === undefined || bytesKept(this.#reserve) === reserveBytes) return true
    try {
      // Created anew: a link would lead to another file, and writing to a pipe would block.
      rmSync(this.#reserve, { force: true })
      // A file system may store zeros without using space.
      writeFileSync(this.#reserve, randomFillSync(Buffer.alloc(reserveBytes)), { flag: 'wx', mode: 0o600 })
      return true
    } catch (error) {
      giveUpReserve(file)
      return !lacksRoom(error)
    }
  }
}

/**
 * Opens a database. On a full disk it gives up the reserve first, because SQLite needs files beside the database even to end
 * access.
 * @throws DatabaseUnusable ('full') if that does not fit either
 */
export const withRoom = async <T>(file: string, open: () => Promise<T>): Promise<T> => {
  try {
    return await open().catch(async (error: unknown) => {
      // Once: another process may keep putting the reserve back.
      if (!isOutOfRoom(file, error) || !giveUpReserve(file)) throw error
      return await open()
    })
  } catch (error) {
    throw isOutOfRoom(file, error) ? new DatabaseUnusable('full', noRoomSentence(file), { cause: error }) : error
  }
}

const isOutOfRoom = (file: string, error: unknown): boolean =>
  lacksRoom(error) || (/^SQLITE_(?:CANTOPEN|IOERR)/.test(sqliteCode(error) ?? '') && lacksInodes(file))

/** Removes the reserve; false if there was none. */
const giveUpReserve = (file: string): boolean => {
  const { reserve } = companionsOf(file)
  if (bytesKept(reserve) === null) return false
  rmSync(reserve, { force: true })
  return true
}

/** Null for anything but a regular file. */
const bytesKept = (reserve: string): number | null => {
  const found = lstatSync(reserve, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.size : null
}
