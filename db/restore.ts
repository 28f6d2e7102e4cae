import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { assertSound } from './check.ts'
import { DatabaseUnusable } from './database.ts'
import { applicationId, inspectSchema, migrate, type Migration } from './migrate.ts'
import { proofActions } from './queries/audit.ts'
import { type CarriedOver, ends, nothingCarriedOver, unread } from './restore/ends.ts'
import { readAcknowledged, writeAcknowledged } from './sqlite/acknowledged.ts'
import { connect, Connection, connectForLooking } from './sqlite/connection.ts'
import { faultKind } from './sqlite/fault.ts'
import { bytesOf, canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './sqlite/files.ts'
import { lockAgainstServers } from './sqlite/lock.ts'
import { withPlaceOfCopy } from './faults/system.ts'
import { assertReplaceable, predecessorPath } from './sqlite/place.ts'
import { assertNotMoved, foreignWalSentence, markedAt } from './sqlite/servable.ts'
import { letSignalsIn, temporaryFile } from './sqlite/temporary.ts'
import { commitCounted, exclusiveOn, type StoppedOptions } from './stopped.ts'
import { clampTimes, type EndedIssued, endEverythingIssued, momentOf } from './stopped-changes.ts'

/*
 * How a backup takes the place of a database, and how what was revoked since the backup stays revoked. From top to bottom:
 *
 * - The *backup* is the file that is given. It is checked, and only read.
 * - The *copy* of it lies beside the database. Everything is done in the copy.
 * - The *predecessor* is the database that was there. What has ended in it ends in the copy, and it is set aside.
 * - The *database* is what the copy becomes, in one rename. After a kill, its name leads to the predecessor or to the finished copy.
 *
 * PostgreSQL restores its own backups. There `recoverRows` (`db/stopped-changes.ts`) must follow: without a predecessor nothing can be
 * carried over, so it ends what was issued and suspends secrets until each is confirmed.
 */

type RestoreOptions = StoppedOptions & {
  readonly backup: string
  /** Called before each step. */
  readonly progress: (step: RestoreStep) => void
}
export type RestoreStep = 'check' | 'copy' | 'end' | 'set aside' | 'replace' | 'done'

/** Whether the predecessor is there, attached and alone. */
type Held = 'held' | 'unreadable' | 'missing'
/** What could be read of the predecessor. A stranger has nothing in common with the backup: what it tells counts, but it cannot tell all. */
type Predecessor = 'read' | 'stranger' | 'unreadable' | 'missing'

export type RestoreFacts = {
  readonly predecessor: Predecessor
  readonly ended: EndedIssued
  /** What had ended in the predecessor since the backup; null if it could not be read. */
  readonly carriedOver: CarriedOver | null
  /** Ends of things that this backup does not have, kept for a restore of one that does. */
  readonly kept: number
  /** Restores since the backup was made that could not read their predecessor. */
  readonly unread: number
}
export type Restored = RestoreFacts & {
  readonly database: string
  /** The path of the predecessor now; null if there was none. */
  readonly keptAs: string | null
  /** The time of the restore: `now`, or the latest time in the data if that is later. */
  readonly at: number
}

/**
 * Replaces the database by a backup.
 * @throws DatabaseUnusable if the backup is missing, foreign, damaged or newer, or the database is in use or has several names
 */
export const restoreSqlite = async (options: RestoreOptions): Promise<Restored> => {
  const { backup, migrations, progress } = options
  progress('check')
  assertRestorable(options)
  const database = canonicalPath(options.file)
  assertReplaceable(database)
  using _ = lockAgainstServers(database)
  progress('copy')
  return await inCopy({ backup, database, migrations }, async (connection, putInPlace) => {
    progress('end')
    const held = holdPredecessor(connection, database)
    const { at, count, facts } = await endInCopy(connection, held, database, options)
    progress('set aside')
    const keptAs = setAside(database, held, at)
    progress('replace')
    // A count that can be read is below that of the copy. No server accepts a database without one, so a kill here does no harm.
    if (readAcknowledged(database) === null) writeAcknowledged(database, { count })
    putInPlace()
    progress('done')
    return { ...facts, at, database, keptAs }
  })
}

const assertRestorable = ({ backup, file, migrations }: RestoreOptions): void => {
  const found = statSync(backup, { throwIfNoEntry: false })
  if (found?.isFile() !== true) throw new DatabaseUnusable('missing', `There is no backup at ${backup}.`)
  const database = statSync(file, { throwIfNoEntry: false })
  if (database?.dev === found.dev && database.ino === found.ino) {
    throw new DatabaseUnusable('exists', `${backup} is the database itself.`)
  }
  if (found.size === 0 || inspectSchema(backup, migrations, 'backup') === 'empty')
    throw new DatabaseUnusable('foreign', `${backup} is empty: it is no backup.`)
  assertSound(backup, migrations, 'backup')
  using connection = connectForLooking(backup)
  assertNotMoved(connection, backup)
}

type CopyOptions = {
  readonly backup: string
  /** Its canonical path. Expects the server's lock to be held, which excludes another restore. */
  readonly database: string
  readonly migrations: readonly Migration[]
}

/** Works in a migrated copy of the backup, which takes the name of the database when the work calls `putInPlace`. */
export const inCopy = async <T>(
  { backup, database, migrations }: CopyOptions,
  work: (connection: Connection, putInPlace: () => void) => Promise<T>,
): Promise<T> => {
  using temporary = temporaryFile(database)
  const copy = temporary.path
  try {
    makeCopy(backup, copy)
    await letSignalsIn()
    await migrate(copy, migrations)
    using connection = connectToOneFile(copy)
    return await work(connection, () => {
      syncFile(copy)
      renameSync(copy, database)
      syncFolderOf(database)
    })
  } catch (error) {
    throw withPlaceOfCopy({ copy, named: database, bytes: bytesOf(backup) }, error)
  }
}

/** Makes the copy through SQLite, so that the content of a WAL beside the backup is included. */
const makeCopy = (backup: string, copy: string): void => {
  createPrivately(copy)
  using source = new Connection(resolve(backup), { readonly: true })
  source.run('VACUUM INTO ?', [copy])
  // Statistics of ANALYZE steer every query, and what a backup says of itself is not to be trusted.
  using made = connect(copy)
  for (const table of ['sqlite_stat1', 'sqlite_stat4']) made.run(`DROP TABLE IF EXISTS ${table}`)
}

/** Opens a copy without a WAL: one file holds everything, so that nothing has to be renamed with it. */
export const connectToOneFile = (copy: string): Connection => {
  const connection = connect(copy)
  connection.value('PRAGMA main.journal_mode = DELETE')
  return connection
}

/**
 * Attaches the predecessor under that name and keeps every other process out of it until the connection closes, so that it cannot
 * change before it is replaced. Copies its WAL into it, so that it is one file.
 * @throws DatabaseUnusable ('busy') while another process uses it
 */
const holdPredecessor = (connection: Connection, database: string): Held => {
  if (!existsSync(database)) return 'missing'
  if (statSync(database).size === 0) return 'unreadable' // to open it would delete the WAL, which is kept
  try {
    if (!isReadable(database)) return 'unreadable'
    connection.run('ATTACH ? AS predecessor', [database])
    connection.value('PRAGMA predecessor.locking_mode = EXCLUSIVE')
    const isOurs = connection.value('PRAGMA predecessor.application_id') === applicationId
    if (isOurs && connection.value('PRAGMA predecessor.journal_mode = DELETE') === 'delete') return 'held'
    if (isOurs) throw inUse(database)
  } catch (error) {
    if (faultKind(error) === 'busy') throw inUse(database, error)
    if (faultKind(error) !== 'state_unknown') throw error
  }
  if (connection.value("SELECT count(*) FROM pragma_database_list WHERE name = 'predecessor'") === 1)
    connection.run('DETACH predecessor')
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

/** Ends in the copy, in one transaction, what has ended in the predecessor, and everything that was issued. */
const endInCopy = async (connection: Connection, held: Held, database: string, options: RestoreOptions) => {
  connection.run('BEGIN EXCLUSIVE')
  const exclusive = exclusiveOn(connection)
  const { queries } = exclusive
  const told = held === 'held' ? await readPredecessor(connection, options.now) : { ...nothingTold, predecessor: held }
  const { predecessor, clock: itsClock, ...known } = told
  const clock = Math.max((await queries.watermarks.find('clock')) ?? 0, itsClock)
  const at = Math.max(options.now, clock)
  const ended = await endEverythingIssued(exclusive, at)
  const facts: RestoreFacts = { predecessor, ended, ...known }
  if (clock > 0) await queries.watermarks.set('clock', clock)
  await queries.watermarks.set('restored', at)
  const event = options.event(await momentOf(queries, at), { action: 'database.restored', detail: facts })
  await queries.audit.insert(event)
  const count = commitCounted(connection, database) // changes that the predecessor acknowledged do not count as missing: they were replaced
  return { facts, at, count }
}

/** What a predecessor tells, and its latest trusted time. */
type ToldByPredecessor = Omit<RestoreFacts, 'ended'> & { readonly clock: number }

const nothingTold = { predecessor: 'unreadable', carriedOver: null, kept: 0, unread: 0, clock: 0 } as const

/** Carries over what has ended in the held predecessor. If it cannot be read to the end, nothing of it is carried over. */
const readPredecessor = async (connection: Connection, now: number): Promise<ToldByPredecessor> => {
  connection.run('SAVEPOINT carry_over')
  try {
    await takeBackTimes(connection)
    const ended = carryOver(connection, now)
    const clock = Number(connection.value("SELECT max(at) FROM predecessor.watermarks WHERE name = 'clock'") ?? 0)
    const predecessor = isStranger(connection) ? 'stranger' : 'read'
    connection.run('RELEASE carry_over')
    return { predecessor, ...ended, clock }
  } catch (error) {
    // A damaged page, or a schema that this program does not know. A full disk is not a fault of the predecessor.
    if (faultKind(error) === 'full' || !connection.inTransaction) throw error
    connection.run('ROLLBACK TO carry_over')
    connection.run('RELEASE carry_over')
    return nothingTold
  }
}

/**
 * Ends in the copy what has ended in the predecessor since the backup was made. It only ends things, except that a rollback also
 * makes the earlier version live. Whatever began since the backup is lost. Ends of things that the copy does not have stay in its
 * `carried_ends` until a backup that has them is restored, however late, because IDs do not expire.
 */
const carryOver = (connection: Connection, now: number) => {
  const change = (sql: string) => connection.run(sql, sql.includes('?1') ? [now] : []).changes
  const count = (which: string) =>
    Number(connection.value(`SELECT count(*) FROM main.carried_ends WHERE kind ${which}`))
  const unreadBefore = count(`= '${unread.kind}'`)
  // If both know an end of the same thing, the stronger counts: revoked, then the grace period that ends sooner, then the later end.
  const remember = (rows: string) =>
    change(`INSERT INTO main.carried_ends AS c (kind, target, at, value) ${rows} WHERE true
      ON CONFLICT DO UPDATE SET at = excluded.at, value = excluded.value WHERE c.value IS NOT 'revoked' AND
        CASE excluded.value WHEN 'revoked' THEN true WHEN 'expires' THEN excluded.at < c.at ELSE excluded.at >= c.at END`)
  remember('SELECT kind, target, at, value FROM predecessor.carried_ends')
  for (const { kind, told } of [...ends, unread]) remember(`SELECT '${kind}', * FROM (${told})`)
  const carriedOver = { ...nothingCarriedOver }
  for (const { first = [], counts, done, last = [] } of ends) {
    for (const sql of first) change(sql)
    for (const sql of done) carriedOver[counts] += change(sql)
    for (const sql of last) change(sql)
  }
  for (const { kind, of } of [...ends, unread])
    change(`DELETE FROM main.carried_ends WHERE kind = '${kind}' AND target IN (SELECT id FROM main.${of})`)
  return { carriedOver, kept: count(`<> '${unread.kind}'`), unread: count(`= '${unread.kind}'`) - unreadBefore }
}

/**
 * A backup from before a `clock reset` of the predecessor may hold times that were ahead. They are set back as the reset did, so
 * that ends since then count as later.
 */
const takeBackTimes = async (connection: Connection): Promise<void> => {
  const resetAt = connection.value(`SELECT max(at) FROM predecessor.audit_events
    WHERE action = '${proofActions.clockReset}' AND id NOT IN (SELECT id FROM main.audit_events)`)
  if (typeof resetAt === 'number') await clampTimes(exclusiveOn(connection), resetAt)
}

/** Whether the predecessor lacks the first event of the backup. Then it is a new database that cannot tell what had ended. */
const isStranger = (connection: Connection): boolean =>
  connection.value(`SELECT count(*) FROM (SELECT id FROM main.audit_events ORDER BY id LIMIT 1)
    WHERE id NOT IN (SELECT id FROM predecessor.audit_events)`) === 1

/**
 * Gives the predecessor a second name before it loses the first, and returns it; if only companions are left, the name of the
 * first of them. Companions that could not be folded in are moved: SQLite would apply them to the next file of that name.
 */
const setAside = (database: string, held: Held, at: number): string | null => {
  const aside = predecessorPath(database, at)
  const { wal, shm } = companionsOf(database)
  const companions = held === 'held' ? [] : [wal, `${database}-journal`].filter((path) => existsSync(path))
  const names = [...(held === 'missing' ? [] : [database]), ...companions].map((path) => ({
    path,
    aside: aside + path.slice(database.length),
  }))
  for (const name of names) linkSync(name.path, name.aside)
  syncFolderOf(database)
  for (const companion of companions) rmSync(companion)
  if (held !== 'held') rmSync(shm, { force: true })
  return names[0]?.aside ?? null
}
