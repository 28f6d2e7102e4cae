import { constants } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DatabaseUnusable } from '../database.ts'
import { isBehind, nextCount, readCount } from './commit-count.ts'
import { Connection } from './connection.ts'
import { companionsOf } from './private-file.ts'

/*
 * SQLite applies a WAL to whatever file has the name. An older database that was copied over the file after a kill would
 * be read through the WAL of the newer one: its first page, with the count of commits, comes from there, and all pages that
 * the WAL does not have are old. So the count in the file itself is compared with the first commit in the WAL: a WAL
 * starts over only once everything before it is in the file.
 */

/** A sentence about a file under the WAL of another one; null for every other. Expects a connection that sees the WAL. */
export const foreignWalSentence = (file: string, through: Connection): string | null => {
  const { wal } = companionsOf(file)
  const first = existsSync(wal) ? firstCountIn(wal) : null
  if (first === null) return null
  // Immutable: read without the WAL. By SQLite, because closing a descriptor of ours would drop this process's locks.
  using own = new Connection(
    `${pathToFileURL(file).href}?immutable=1`,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  )
  const isOlder = isBehind(nextCount(readCount(own)), first)
  // A backup is ahead of what it was made of by one change of the schema.
  const isBackup = schemaVersion(own) > schemaVersion(through)
  if (!isOlder && !isBackup) return null
  return (
    `${file} is not the file that ${wal} belongs to, as when an older database or a backup was copied over it after a ` +
    'server was killed: put the right file back, or restore a backup with app-platform restore FILE.'
  )
}

/** @throws DatabaseUnusable ('rolled_back') */
export const assertOwnWal = (file: string, through: Connection): void => {
  const sentence = foreignWalSentence(file, through)
  if (sentence !== null) throw new DatabaseUnusable('rolled_back', sentence)
}

const schemaVersion = (connection: Connection): number => Number(connection.value('PRAGMA main.schema_version'))

const headerBytes = 32
const frameHeaderBytes = 24
/** Where a database's first page has its `user_version`. */
const countOffset = 60

/** The count of commits in the first page of the first transaction that has it; null without one that is whole. */
const firstCountIn = (wal: string): number | null => {
  const descriptor = openSync(wal, 'r')
  try {
    const header = Buffer.alloc(headerBytes)
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return null
    const magic = header.readUInt32BE(0)
    if (magic >>> 1 !== 0x377f0682 >>> 1) return null
    const sum = checksum((magic & 1) === 1)
    if (!isSumOf(sum(header.subarray(0, 24)), header.subarray(24))) return null
    const frame = Buffer.alloc(frameHeaderBytes + header.readUInt32BE(8))
    let count: number | null = null
    for (let at = headerBytes; ; at += frame.length) {
      if (readSync(descriptor, frame, 0, frame.length, at) < frame.length) return null
      if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) return null // left from before the WAL started over
      sum(frame.subarray(0, 8))
      if (!isSumOf(sum(frame.subarray(frameHeaderBytes)), frame.subarray(16))) return null
      if (frame.readUInt32BE(0) === 1) count = frame.readInt32BE(frameHeaderBytes + countOffset)
      const ends = frame.readUInt32BE(4) !== 0
      if (ends && count !== null) return count
    }
  } finally {
    closeSync(descriptor)
  }
}

type Sums = readonly [number, number]

/** The running checksum of a WAL (sqlite.org/fileformat2.html#checksum_algorithm). */
const checksum = (bigEndian: boolean) => {
  let [first, second] = [0, 0]
  return (bytes: Buffer): Sums => {
    const word = (at: number) => (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))
    for (let at = 0; at < bytes.length; at += 8) {
      first = (first + word(at) + second) >>> 0
      second = (second + word(at + 4) + first) >>> 0
    }
    return [first, second]
  }
}

const isSumOf = ([first, second]: Sums, stored: Buffer): boolean =>
  stored.readUInt32BE(0) === first && stored.readUInt32BE(4) === second
