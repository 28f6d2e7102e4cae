import { randomFillSync } from 'node:crypto'
import { lstatSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseUnusable } from '../database.ts'
import { lacksRoom, sqliteCode } from './fault.ts'
import { companionsOf, freeBytesBeside } from './files.ts'
import { lacksInodes, noRoomSentence } from '../faults/system.ts'

/** What servers reserve for ending access, and what commands leave to them. */
export const reservedBytes = 2 * 1024 * 1024

/** What a small change needs: a disk with room for the reserve and nothing else is full. */
const changeBytes = 256 * 1024

/**
 * Whether the reserve and so many bytes fit, the one rule for everything that is no server. A server on a full disk makes the reserve
 * and gives it up twice a second, so the free space is read before and after it.
 */
const leavesReserve = (file: string, reserveBytes: number, bytes = 0): boolean => {
  const before = freeBytesBeside(file)
  const kept = bytesKept(companionsOf(file).reserve) ?? 0
  const after = freeBytesBeside(file)
  return before === null || after === null || Math.min(before, after) + kept >= reserveBytes + bytes + changeBytes
}

/** @throws DatabaseUnusable ('full') if so many further bytes on the disk of the database would take the room for ending access */
export const assertLeavesReserve = (file: string, bytes: number): void => {
  if (!leavesReserve(file, reservedBytes, bytes)) throw new DatabaseUnusable('full', reservedSentence(file))
}

const reservedSentence = (file: string): string =>
  `${noRoomSentence(file)} Until then access can be ended, as long as that fits, and nothing else is written.`

/**
 * Whether the disk has room for the database. A reserve is kept in a file of its own, which is removed when the disk is full,
 * so that access can still be ended. The disk counts as full until the reserve fits again.
 */
export class Room {
  readonly #reserve: string
  #isFull = false

  constructor(
    /**
     * `reserveBytes` is the size of the reserve for ending access; no reserve by default. `isKeeper`: it is kept here, as by a server;
     * others leave it to them.
     */
    private readonly options: {
      readonly file: string
      readonly reserveBytes: number | undefined
      readonly isKeeper: boolean
    },
  ) {
    this.#reserve = companionsOf(options.file).reserve
    if (!this.#keepReserve()) this.ranOut()
  }

  /** Why only transactions that end access are accepted; null if there is room. */
  get reason(): string | null {
    return this.#isFull ? reservedSentence(this.options.file) : null
  }

  /**
   * Called when something did not fit. True if there is room now for ending access. A process that keeps no reserve uses that of
   * another one only for ending access.
   */
  ranOut(endsAccess = false): boolean {
    this.#isFull = true
    return (endsAccess || this.options.isKeeper) && giveUpReserve(this.options.file)
  }

  /**
   * Checks whether the reserve is still there, which other processes may use, or fits, and on a full disk whether there is room again:
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
    const { file, reserveBytes, isKeeper } = this.options
    if (reserveBytes === undefined) return true
    if (!isKeeper) return leavesReserve(file, reserveBytes)
    if (bytesKept(this.#reserve) === reserveBytes) return true
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
    throw isOutOfRoom(file, error) ? new DatabaseUnusable('full', noRoomSentence(file, error), { cause: error }) : error
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
