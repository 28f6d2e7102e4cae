import { randomFillSync } from 'node:crypto'
import { lstatSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseUnusable } from '../database.ts'
import { lacksRoom, sqliteCode } from './fault.ts'
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
      ? `${noRoomSentence(this.options.file)} Until then access can be ended, as long as that fits, and nothing else is written.`
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
 * @throws DatabaseUnusable ('full') when there is no room for that, either
 */
export const withRoom = async <T>(file: string, open: () => Promise<T>): Promise<T> => {
  try {
    try {
      return await open()
    } catch (error) {
      if (!isOutOfRoom(file, error) || !giveUpReserve(file)) throw error
      return await open()
    }
  } catch (error) {
    if (!isOutOfRoom(file, error)) throw error
    throw new DatabaseUnusable('full', noRoomSentence(file), { cause: error })
  }
}

const isOutOfRoom = (file: string, error: unknown): boolean =>
  lacksRoom(error) || (/^SQLITE_(?:CANTOPEN|IOERR)/.test(sqliteCode(error) ?? '') && lacksInodes(file))

const noRoomSentence = (file: string): string =>
  lacksInodes(file)
    ? `The disk of ${file} has room but too few free inodes, as df -i ${dirname(file)} shows: remove files that are not needed.`
    : `The disk of ${file} is full: make room.`

/** How many files a database has at most, with those that SQLite removes again before we can look. */
const filesOfDatabase = 8

/** Each file takes an inode, however small it is. SQLite only says that it could not open a file. */
const lacksInodes = (file: string): boolean => {
  const { files, ffree, bavail } = statfsSync(dirname(file))
  return files > 0 && ffree < filesOfDatabase && bavail > 0
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
