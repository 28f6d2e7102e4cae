import { hash } from 'bun'
import { closeSync, fdatasync, fsyncSync, openSync, readFileSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { hasCode } from '../../src/domain/error-code.ts'
import { companionsOf, createPrivately, syncFolderOf } from './files.ts'

/*
 * The file beside a database that counts its acknowledged commits and keeps the latest trusted time. `servable.ts` reads the
 * count at every start.
 *
 * A damaged WAL rolls back silently. SQLite stops at the first frame whose checksum is wrong. That is right for a frame that
 * was never synced, but it also drops every later commit, acknowledged ones included, and what is left passes each integrity
 * check. So a database that has fewer commits than this file counts is not opened. The count is written after the sync of
 * the commits that it counts, so a power cut can only leave it too low. It lags by up to 100 ms, because a second sync for each
 * commit would double the cost of a write: commits acknowledged in the last 100 ms before a crash cannot be told from
 * unacknowledged ones.
 *
 * The file has a durable count before the first commit beside it is acknowledged, and a power cut leaves the old line or the
 * new one. So a count that cannot be read is as bad as a missing one: only a database without commits opens.
 *
 * The second line is the latest trusted time. Without it, a program that was killed would forget the time that has passed
 * since it was last kept in the database. It is written together with the count, and otherwise once a second.
 */

const betweenWritesMs = 100
const betweenTimesMs = 1_000

/** Both lines have fixed places in one sector, so that a power cut leaves the old line or the new one. */
type Line = { readonly name: string; readonly digits: number; readonly offset: number }
const countLine: Line = { name: 'acknowledged', digits: 11, offset: 0 }
const timeLine: Line = { name: 'time', digits: 16, offset: 34 }

const textOf = ({ name, digits }: Line, value: number): string => {
  const text = `${name} ${String(value).padStart(digits)}`
  return `${text} ${checksumOf(text)}\n`
}

const checksumOf = (text: string): string => hash.crc32(text).toString(16).padStart(8, '0')

/** The value of a line; null if there is none or it is damaged. */
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
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}

/** Writes the count, and the time if one is given, beside a database that no server has open. */
export const writeAcknowledged = (file: string, { count, time }: { count: number; time?: number }): void => {
  const path = companionsOf(file).acknowledged
  createPrivately(path)
  const descriptor = openSync(path, 'r+')
  try {
    writeSync(descriptor, textOf(countLine, count), countLine.offset)
    if (time !== undefined) writeSync(descriptor, textOf(timeLine, time), timeLine.offset)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncFolderOf(file)
}

/** The value that a line should have, and the one that it has. */
type Kept = { readonly line: Line; latest: number | null; written: number | null }
const unwritten = (line: Line): Kept => ({ line, latest: null, written: null })

/** Writes the count and the time, off the event loop. */
export class Acknowledged {
  readonly #descriptor: number
  readonly #count = unwritten(countLine)
  readonly #time = unwritten(timeLine)
  #writing: Promise<void> | null = null
  #pause: ReturnType<typeof setTimeout> | null = null
  /** From then on only `close` writes: a later write could go to another file that gets the same descriptor. */
  #closing = false

  constructor(
    file: string,
    /** The count of the database now, for a counter that has none yet. */
    count: number,
    /** Called when the disk failed. On a full disk the next count tries again. */
    private readonly failed: (error: unknown) => void,
  ) {
    if (readAcknowledged(file) === null) writeAcknowledged(file, { count })
    this.#descriptor = openSync(companionsOf(file).acknowledged, 'r+')
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

  /** Writes what has not been written yet, unless the disk has failed or is full. Then the count stays too low. */
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

const isFull = (error: unknown): boolean => hasCode(error, 'ENOSPC', 'EDQUOT')
