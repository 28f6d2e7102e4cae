import { closeSync, fdatasync, openSync, readFileSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { crc32 } from '../../src/domain/crc32.ts'
import { DatabaseUnusable } from '../database.ts'
import { connectForLooking, isBehind, readCount } from './commit-count.ts'
import { type Connection } from './connection.ts'
import { faultKind } from './fault.ts'
import { companionsOf, createPrivately } from './private-file.ts'

/*
 * A damaged WAL rolls back in silence: SQLite stops at the first frame whose checksum is wrong, which is right for a
 * frame that never was synced, and forgets all commits from there on, which is wrong for one that was acknowledged. What
 * is left passes every integrity check. So a file beside the database says how many commits were acknowledged, and a
 * database that counts fewer is not opened. It is written after the sync of what it counts, so a power cut can only make
 * it too low. It lags by a tenth of a second at most, because a second sync for every commit would double what a write
 * costs: what was acknowledged later than that is told apart from what never was by nobody.
 */

const betweenWritesMs = 100

/** One line of one sector, so that a power cut leaves the old one or the new one. */
const lineOf = (count: number): string => {
  const text = `acknowledged ${String(count).padStart(11)}`
  return `${text} ${checksumOf(text)}\n`
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0')

/** The count beside a database; null when there is none, or none that can be read. */
export const readAcknowledged = (file: string): number | null => {
  const line = readLine(companionsOf(file).acknowledged)
  const [, text = '', count = '', checksum] = /^(acknowledged +(-?\d+)) ([0-9a-f]{8})\n$/.exec(line) ?? []
  return checksum === checksumOf(text) ? Number(count) : null
}

const readLine = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

/** What is missing, in a sentence for the operator, or null. Expects the count that was read before the connection's. */
export const missingSentence = (connection: Connection, file: string, acknowledged: number | null): string | null => {
  if (acknowledged === null || !isBehind(readCount(connection), acknowledged)) return null
  const { wal, acknowledged: counter } = companionsOf(file)
  return (
    `${file} has lost changes that were acknowledged, as when ${wal} was damaged or deleted, or the database replaced ` +
    `by an older one: restore a backup, or delete ${counter} to go on without them.`
  )
}

/**
 * Leaves a file that cannot be read at all to whoever reads more of it.
 * @throws DatabaseUnusable ('rolled_back') when acknowledged commits are missing
 */
export const assertNothingMissing = (file: string): void => {
  const acknowledged = readAcknowledged(file)
  if (acknowledged === null) return
  const connection = connectForLooking(file)
  try {
    connection.run('PRAGMA busy_timeout = 1000')
    const missing = missingSentence(connection, file, acknowledged)
    if (missing !== null) throw new DatabaseUnusable('rolled_back', missing)
  } catch (error) {
    if (faultKind(error) !== 'state_unknown') throw error
  } finally {
    connection.close()
  }
}

/** Keeps the count on the disk, off the event loop. */
export class Acknowledged {
  readonly #descriptor: number
  #latest: number | null = null
  #written: number | null = null
  #writing: Promise<void> | null = null
  #pause: ReturnType<typeof setTimeout> | null = null

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
    this.#latest = count
    this.#consider()
  }

  /** Writes what has not been written yet, unless the disk has failed. */
  async close(options: { readonly failed: boolean }): Promise<void> {
    if (this.#pause !== null) clearTimeout(this.#pause)
    await this.#writing
    try {
      if (!options.failed && this.#latest !== null && this.#latest !== this.#written) await this.#write(this.#latest)
    } finally {
      closeSync(this.#descriptor)
    }
  }

  #consider(): void {
    if (this.#writing !== null || this.#pause !== null || this.#latest === null || this.#latest === this.#written)
      return
    this.#writing = this.#write(this.#latest)
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

  async #write(count: number): Promise<void> {
    const line = Buffer.from(lineOf(count))
    await writeAt(this.#descriptor, line, 0, line.length, 0)
    await syncData(this.#descriptor)
    this.#written = count
  }
}

const writeAt = promisify(write)
const syncData = promisify(fdatasync)

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
