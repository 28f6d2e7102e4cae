import { existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { DatabaseUnusable } from '../database.ts'
import { applicationId } from '../migrate.ts'
import { exclusiveOn } from '../stopped.ts'
import { clampTimes } from '../stopped-changes.ts'
import { connectForLooking, type Connection } from '../sqlite/connection.ts'
import { proofActions } from '../queries/audit.ts'
import { faultKind } from '../sqlite/fault.ts'
import { keptName } from '../sqlite/place.ts'
import { companionsOf, syncFolderOf } from '../sqlite/files.ts'
import { foreignWalSentence, markedAt } from '../sqlite/servable.ts'
import { nothingCarriedOver } from './end.ts'
import { ends, unread } from './ends.ts'

/** What could be read of the database that is being replaced. A stranger has nothing in common with the backup. */
export type Predecessor = 'read' | 'stranger' | 'unreadable' | 'missing'

/**
 * Attaches the predecessor as `present` and keeps every other process out of it until the connection closes, so that it cannot
 * change before it is replaced. Copies its WAL into it, so that it is one file.
 * @throws DatabaseUnusable ('busy') while another process uses it
 */
export const holdPredecessor = (connection: Connection, database: string): Predecessor => {
  if (!existsSync(database)) return 'missing'
  if (statSync(database).size === 0) return 'unreadable' // to open it would delete the WAL, which is kept
  try {
    if (!isReadable(database)) return 'unreadable'
    connection.run('ATTACH ? AS present', [database])
    connection.value('PRAGMA present.locking_mode = EXCLUSIVE')
    const isOurs = connection.value('PRAGMA present.application_id') === applicationId
    if (isOurs && connection.value('PRAGMA present.journal_mode = DELETE') === 'delete') return 'read'
    if (isOurs) throw inUse(database)
  } catch (error) {
    if (faultKind(error) === 'busy') throw inUse(database, error)
    if (faultKind(error) !== 'state_unknown') throw error
  }
  letGo(connection)
  return 'unreadable'
}

/** False for a file under the WAL of another one, because reads would mix both. @throws DatabaseUnusable ('moved') */
const isReadable = (database: string): boolean => {
  using connection = connectForLooking(database)
  if (foreignWalSentence(database, connection) !== null) return false
  const isOurs = connection.value('PRAGMA application_id') === applicationId
  if (isOurs && markedAt(connection, 'moved') !== null) {
    const sentence =
      `${database} was moved to another machine, and a restore would bring it back into service here: ` +
      `if the other one is out of service for good, move ${database} away and run the command again.`
    throw new DatabaseUnusable('moved', sentence)
  }
  return true
}

const inUse = (database: string, cause?: unknown) =>
  new DatabaseUnusable('busy', `Another process is using ${database}: try again when it is done.`, { cause })

const letGo = (connection: Connection): void => {
  if (connection.value("SELECT count(*) FROM pragma_database_list WHERE name = 'present'") === 1)
    connection.run('DETACH present')
}

/**
 * Carries over what has ended in the held predecessor, and returns its latest trusted time. Null if it cannot be read to the
 * end; then nothing of it was carried over.
 */
export const readPredecessor = async (connection: Connection, now: number) => {
  connection.run('SAVEPOINT predecessor')
  try {
    await takeBackTimes(connection)
    const knowledge = carryOver(connection, now)
    const clock = Number(connection.value("SELECT max(at) FROM present.watermarks WHERE name = 'clock'") ?? 0)
    const predecessor: Predecessor = isStranger(connection) ? 'stranger' : 'read'
    connection.run('RELEASE predecessor')
    return { ...knowledge, clock, predecessor }
  } catch (error) {
    // A damaged page, or a schema that this program does not know. A full disk is not a fault of the predecessor.
    if (faultKind(error) === 'full' || !connection.inTransaction) throw error
    connection.run('ROLLBACK TO predecessor')
    connection.run('RELEASE predecessor')
    return null
  }
}

/**
 * Ends in the copy (`main`) what has ended in the predecessor (`present`) since the backup was made, so that a backup does not
 * revive what was revoked. It only ends things, except that a rollback also makes the earlier version live. Whatever began since
 * the backup is lost. Ends of things that the copy does not have stay in `carried_ends` until a backup that has them is
 * restored, however late, because IDs do not expire.
 */
const carryOver = (connection: Connection, now: number) => {
  const change = (sql: string) => connection.run(sql, sql.includes('?1') ? [now] : []).changes
  const count = (which: string) =>
    Number(connection.value(`SELECT count(*) FROM main.carried_ends WHERE kind ${which}`))
  const unreadBefore = count(`= '${unread.kind}'`)
  change(`${remember} SELECT kind, target, at, value FROM present.carried_ends`)
  for (const { kind, told } of [...ends, unread]) change(`${remember} SELECT '${kind}', * FROM (${told})`)
  const carriedOver = { ...nothingCarriedOver }
  for (const { first = [], counts, done, last = [] } of ends) {
    for (const sql of first) change(sql)
    for (const sql of done) carriedOver[counts] += change(sql)
    for (const sql of last) change(sql)
  }
  for (const { kind, of } of [...ends, unread]) change(forget(kind, of))
  return {
    carriedOver,
    /** Ends of things that the backup does not have, kept for the restore of one that does. */
    kept: count(`<> '${unread.kind}'`),
    /** Restores since the backup that could not read what they replaced, so that nobody knows what had ended there. */
    unread: count(`= '${unread.kind}'`) - unreadBefore,
  }
}

const remember = 'INSERT OR REPLACE INTO main.carried_ends (kind, target, at, value)'

const forget = (kind: string, table: string) =>
  `DELETE FROM main.carried_ends WHERE kind = '${kind}' AND target IN (SELECT id FROM main.${table})`

/**
 * A backup from before a `clock reset` of its database may hold times that were ahead. They are set back as the reset did, so
 * that ends since then count as later.
 */
const takeBackTimes = async (connection: Connection): Promise<void> => {
  const resetAt = connection.value(`SELECT max(at) FROM present.audit_events
    WHERE action = '${proofActions.clockReset}' AND id NOT IN (SELECT id FROM main.audit_events)`)
  if (typeof resetAt === 'number') await clampTimes(exclusiveOn(connection), resetAt)
}

/** Whether the predecessor lacks the first event of the backup. Then it is a new database that cannot tell what had ended. */
const isStranger = (connection: Connection): boolean =>
  connection.value(`SELECT count(*) FROM (SELECT id FROM main.audit_events ORDER BY id LIMIT 1)
    WHERE id NOT IN (SELECT id FROM present.audit_events)`) === 1

/**
 * Gives the predecessor a second name before it loses the first, and returns it; if only companions are left, the name of the
 * first of them. Companions that could not be folded in are moved: SQLite would apply them to the next file of that name.
 */
export const keepPredecessor = (database: string, held: Predecessor, at: number): string | null => {
  const kept = keptName(database, at)
  const { wal, shm } = companionsOf(database)
  const companions = held === 'read' ? [] : [wal, `${database}-journal`].filter((path) => existsSync(path))
  const names = [...(held === 'missing' ? [] : [database]), ...companions]
  for (const name of names) linkSync(name, kept + name.slice(database.length))
  syncFolderOf(database)
  for (const companion of companions) rmSync(companion)
  if (held !== 'read') rmSync(shm, { force: true })
  const [first] = names
  return first === undefined ? null : kept + first.slice(database.length)
}
