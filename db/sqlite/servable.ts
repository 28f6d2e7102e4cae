/*
 * Whether a database may be served. Three things are refused, because SQLite does not notice them: a file under the WAL of
 * another one, a database that was moved to another machine, and one that lacks acknowledged commits. Every start, migration
 * and command asks here first.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { hasCode } from '../../src/domain/error-code.ts'
import { DatabaseUnusable } from '../database.ts'
import { readAcknowledged } from './acknowledged.ts'
import { type Connection, connectForLooking, isBehind, nextCount, readCount } from './connection.ts'
import { faultKind } from './fault.ts'
import { companionsOf, descriptorOf } from './files.ts'

/**
 * Leaves a file that cannot be read at all to the code that reads more of it.
 * @throws DatabaseUnusable ('moved', 'sealed') for a moved database or a copy of one, ('rolled_back') if acknowledged commits
 *   are missing or the file lies under the WAL of another one
 */
export const assertServable = (file: string): void => {
  const acknowledged = readAcknowledged(file)
  try {
    using connection = connectForLooking(file)
    connection.run('PRAGMA busy_timeout = 1000')
    assertOwnWal(file, connection) // first: everything else would be read from a mixture of both files
    assertNotMoved(connection, file)
    const missing = missingSentence(connection, file, acknowledged)
    if (missing !== null) throw new DatabaseUnusable('rolled_back', missing)
  } catch (error) {
    if (faultKind(error) !== 'state_unknown') throw error
  }
}

/** A sentence if acknowledged commits are missing, else null. Expects the count that was read before the connection's. */
export const missingSentence = (connection: Connection, file: string, acknowledged: number | null): string | null => {
  const count = readCount(connection)
  const { wal, acknowledged: counter } = companionsOf(file)
  if (acknowledged !== null) {
    if (!isBehind(count, acknowledged)) return null
    const how = `as when ${wal} was damaged or deleted, or the database replaced by an older one`
    return `${file} has lost changes that were acknowledged, ${how}: ${remedy}`
  }
  if (count === 0) return null
  // Another process may have made the counter and committed since it was read.
  const readAgain = readAcknowledged(file)
  if (readAgain !== null) return missingSentence(connection, file, readAgain)
  const what = existsSync(counter) ? 'cannot be read' : 'is gone'
  return `${counter} ${what}, so nobody can tell whether ${file} has lost changes that were acknowledged: ${remedy}`
}

const remedy =
  'restore a backup (app-platform restore FILE), or go on without them (app-platform recover --accept-loss); both end ' +
  'everything that was issued.'

export type MoveMark = 'moved' | 'sealed'

/** When a database was marked as moved, or a copy as sealed; null if it was not. Also for a file without our tables. */
export const markedAt = (connection: Connection, mark: MoveMark): number | null => {
  if (connection.value("SELECT count(*) FROM main.sqlite_schema WHERE name = 'watermarks'") !== 1) return null
  const at = connection.value(`SELECT max(at) FROM main.watermarks WHERE name = '${mark}'`)
  return typeof at === 'number' ? at : null
}

/** Whether a database that is marked as moved went into PostgreSQL, by the audit row of its move. */
export const hasMovedIntoPostgres = (connection: Connection): boolean =>
  connection.value("SELECT detail FROM main.audit_events WHERE action = 'database.moved' ORDER BY id DESC LIMIT 1") ===
  JSON.stringify(intoPostgres)

/** The detail of that audit row. */
export const intoPostgres = { into: 'postgresql' } as const

/** Why a database must not be used if it was moved ('moved', 'sealed'); null for every other. */
export const movedFault = (connection: Connection, file: string): DatabaseUnusable | null => {
  const sealed = markedAt(connection, 'sealed')
  if (sealed !== null) {
    const what = `${file} is the sealed copy of a database that was moved at ${timeOf(sealed)}`
    const remedy = `put it in place on the other machine with app-platform restore --move ${file}.`
    return new DatabaseUnusable('sealed', `${what}: ${remedy}`)
  }
  const moved = markedAt(connection, 'moved')
  if (moved === null) return null
  if (hasMovedIntoPostgres(connection)) {
    const into = `${file} was moved into PostgreSQL at ${timeOf(moved)} and is not used any more`
    return new DatabaseUnusable(
      'moved',
      `${into}: set DATABASE_URL to its URL, or finish with app-platform move --to URL.`,
    )
  }
  const what = `${file} was moved to another machine at ${timeOf(moved)} and is not used here any more`
  return new DatabaseUnusable('moved', `${what}: app-platform move --to PATH writes the copy again.`)
}

/** @throws DatabaseUnusable ('moved', 'sealed') */
export const assertNotMoved = (connection: Connection, file: string): void => {
  const fault = movedFault(connection, file)
  if (fault !== null) throw fault
}

const timeOf = (at: number): string => new Date(at).toISOString()

/*
 * SQLite applies a WAL to whatever file has the name. If an older database is copied over the file after a kill, it is read
 * through the WAL of the newer one: its first page, with the count of commits, comes from the WAL, and every page that the
 * WAL lacks is old. So the count in the file itself is compared with the first commit in the WAL: a WAL starts over only
 * once everything before it is in the file.
 */

/** A sentence if the file lies under the WAL of another one, else null. Expects a connection that sees the WAL. */
export const foreignWalSentence = (file: string, through: Connection): string | null => {
  const { wal } = companionsOf(file)
  const first = firstCountIn(wal)
  const own = first === null ? null : headerOf(file)
  if (first === null || own === null) return null
  const isOlder = isBehind(nextCount(own.count), first)
  // A backup is ahead of the database that it was made of by one change of the schema.
  const isBackup = own.schemaVersion > Number(through.value('PRAGMA main.schema_version'))
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

/** In the first 100 bytes of a database (sqlite.org/fileformat2.html#the_database_header). */
const schemaVersionOffset = 40
const countOffset = 60

/**
 * What the file itself says, without its WAL. SQLite cannot be asked: while a checkpoint grows the file, or after a kill in
 * the middle of one, the first page has a size that the file does not have, which SQLite calls malformed. Null if the
 * system does not list descriptors; then there is nothing to compare.
 */
const headerOf = (file: string): { readonly count: number; readonly schemaVersion: number } | null => {
  const descriptor = descriptorOf(file)
  if (descriptor === null) return null
  const header = Buffer.alloc(100) // stays zero for an empty file, of which everything is in the WAL
  readSync(descriptor, header, 0, header.length, 0)
  return { count: header.readInt32BE(countOffset), schemaVersion: header.readInt32BE(schemaVersionOffset) }
}

const headerBytes = 32
const frameHeaderBytes = 24

/** Null if there is no WAL. The last process to close the database removes it at any moment. */
const openWal = (wal: string): number | null => {
  try {
    return openSync(wal, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** The count of commits in the first page of the first transaction that has that page; null if none is whole. */
const firstCountIn = (wal: string): number | null => {
  const descriptor = openWal(wal)
  if (descriptor === null) return null
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
