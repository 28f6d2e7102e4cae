import { closeSync, existsSync, fdatasync, fsyncSync, openSync, readFileSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { crc32 } from '../../src/domain/crc32.ts'
import { DatabaseUnusable } from '../database.ts'
import { connectForLooking, isBehind, readCount } from './commit-count.ts'
import { type Connection } from './connection.ts'
import { faultKind } from './fault.ts'
import { assertNotMoved } from './moved.ts'
import { companionsOf, createPrivately, syncFolderOf } from './private-file.ts'
import { assertOwnWal } from './wal-owner.ts'

/*
 * A damaged WAL rolls back in silence: SQLite stops at the first frame whose checksum is wrong, which is right for a
 * frame that never was synced, and forgets all commits from there on, which is wrong for one that was acknowledged. What
 * is left passes every integrity check. So a file beside the database says how many commits were acknowledged, and a
 * database that counts fewer is not opened. It is written after the sync of what it counts, so a power cut can only make
 * it too low. It lags by a tenth of a second at most, because a second sync for every commit would double what a write
 * costs: what was acknowledged later than that is told apart from what never was by nobody.
 *
 * A second line has the latest trusted time: without it, a program that was killed would forget what passed since it was
 * last kept in the database. It goes along with the count, and by itself once a second while somebody tells the time.
 */

const betweenWritesMs = 100
const betweenTimesMs = 1_000

/** Each line has its place, and both are in one sector, so that a power cut leaves the old one or the new one. */
type Line = { readonly name: string; readonly digits: number; readonly offset: number }
const countLine: Line = { name: 'acknowledged', digits: 11, offset: 0 }
const timeLine: Line = { name: 'time', digits: 16, offset: 34 }

const textOf = ({ name, digits }: Line, value: number): string => {
  const text = `${name} ${String(value).padStart(digits)}`
  return `${text} ${checksumOf(text)}\n`
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0')

/** The value of a line beside a database; null when there is none, or none that can be read. */
const readLine = (file: string, { name, offset }: Line): number | null => {
  const rest = readText(companionsOf(file).acknowledged).slice(offset)
  const [, text = '', found, value, checksum] = /^((\w+) +(-?\d+)) ([0-9a-f]{8})\n/.exec(rest) ?? []
  return found === name && checksum === checksumOf(text) ? Number(value) : null
}

export const readAcknowledged = (file: string): number | null => readLine(file, countLine)

/** The latest trusted time that was kept, in epoch milliseconds. */
export const readKeptTime = (file: string): number | null => readLine(file, timeLine)

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

/** What is missing, in a sentence for the operator, or null. Expects the count that was read before the connection's. */
export const missingSentence = (connection: Connection, file: string, acknowledged: number | null): string | null => {
  const count = readCount(connection)
  const { wal, acknowledged: counter } = companionsOf(file)
  if (acknowledged !== null) {
    if (!isBehind(count, acknowledged)) return null
    const how = `as when ${wal} was damaged or deleted, or the database replaced by an older one`
    return `${file} has lost changes that were acknowledged, ${how}: ${remedy}`
  }
  // Whoever commits makes the counter first.
  if (count === 0 || existsSync(counter)) return null
  return `${counter} is gone, so nobody can tell whether ${file} has lost changes that were acknowledged: ${remedy}`
}

const remedy =
  'restore a backup (app-platform restore FILE), or go on without them (app-platform recover --accept-loss); both end ' +
  'everything that was issued.'

/**
 * Leaves a file that cannot be read at all to whoever reads more of it.
 * @throws DatabaseUnusable when the database has moved to another machine or is a copy for that ('moved', 'sealed'), or
 *   acknowledged commits are missing or it lies under the WAL of another file ('rolled_back')
 */
export const assertServable = (file: string): void => {
  const acknowledged = readAcknowledged(file)
  const connection = connectForLooking(file)
  try {
    connection.run('PRAGMA busy_timeout = 1000')
    assertOwnWal(file, connection) // first: everything else would be read from a mixture
    assertNotMoved(connection, file)
    const missing = missingSentence(connection, file, acknowledged)
    if (missing !== null) throw new DatabaseUnusable('rolled_back', missing)
  } catch (error) {
    if (faultKind(error) !== 'state_unknown') throw error
  } finally {
    connection.close()
  }
}

/** Writes both lines beside a database that no server has open. */
export const writeAcknowledged = (file: string, { count, time }: { count: number; time: number }): void => {
  const path = companionsOf(file).acknowledged
  createPrivately(path)
  const descriptor = openSync(path, 'r+')
  try {
    writeSync(descriptor, textOf(countLine, count), countLine.offset)
    writeSync(descriptor, textOf(timeLine, time), timeLine.offset)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncFolderOf(file)
}

/** What is to stand in a line, and what does. */
type Kept = { readonly line: Line; latest: number | null; written: number | null }
const keptIn = (line: Line): Kept => ({ line, latest: null, written: null })

/** Keeps count and time on the disk, off the event loop. */
export class Acknowledged {
  readonly #descriptor: number
  readonly #count = keptIn(countLine)
  readonly #time = keptIn(timeLine)
  #writing: Promise<void> | null = null
  #pause: ReturnType<typeof setTimeout> | null = null
  /** From then on only `close` writes: what came later would be written to whatever file has the descriptor next. */
  #closing = false

  constructor(
    file: string,
    /** The disk failed; a full one is tried again with the next count. */
    private readonly failed: (error: unknown) => void,
  ) {
    const path = companionsOf(file).acknowledged
    createPrivately(path)
    this.#descriptor = openSync(path, 'r+')
  }

  /** Called when a commit is durable. */
  note(count: number): void {
    this.#count.latest = count
    this.#consider()
  }

  noteTime(at: number): void {
    this.#time.latest = at
    this.#consider()
  }

  /** Writes what has not been written yet, unless the disk has failed or is full, which makes the count too low at most. */
  async close(options: { readonly failed: boolean }): Promise<void> {
    this.#closing = true
    if (this.#pause !== null) clearTimeout(this.#pause)
    await this.#writing
    try {
      if (!options.failed) await this.#write()
    } catch (error) {
      if (!isFull(error)) throw error
    } finally {
      closeSync(this.#descriptor)
    }
  }

  #consider(): void {
    if (this.#closing || this.#writing !== null || this.#pause !== null || !this.#isDue()) return
    this.#writing = this.#write()
      .catch((error: unknown) => {
        if (!isFull(error)) this.failed(error)
      })
      .finally(() => {
        this.#writing = null
        this.#pause = setTimeout(() => {
          this.#pause = null
          this.#consider()
        }, betweenWritesMs).unref()
      })
  }

  #isDue(): boolean {
    const { latest, written } = this.#time
    return isNews(this.#count) || (latest ?? 0) - (written ?? 0) >= betweenTimesMs
  }

  async #write(): Promise<void> {
    const news = [this.#count, this.#time].filter(isNews).map((kept) => ({ kept, value: kept.latest ?? 0 }))
    if (news.length === 0) return
    for (const { kept, value } of news) {
      const text = Buffer.from(textOf(kept.line, value))
      await writeAt(this.#descriptor, text, 0, text.length, kept.line.offset)
    }
    await syncData(this.#descriptor)
    for (const { kept, value } of news) kept.written = value
  }
}

const isNews = ({ latest, written }: Kept): boolean => latest !== null && latest !== written

const writeAt = promisify(write)
const syncData = promisify(fdatasync)

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
