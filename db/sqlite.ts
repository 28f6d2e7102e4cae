import { dirname, join } from 'node:path'
import type { Awaitable } from '../src/domain/awaitable.ts'
import { PlatformError, refuse } from '../src/domain/errors.ts'
import {
  DatabaseUnusable,
  type Store,
  type StoreFault,
  type StoreHealth,
  type StoreStatistics,
  type TransactionOptions,
} from './database.ts'
import { assertPrivate, inspectSchema, migrate, type Migration } from './migrate.ts'
import { abandon, faultKind, patiently, sqliteCode } from './sqlite/fault.ts'
import { Acknowledged, readKeptTime } from './sqlite/acknowledged.ts'
import { assertServable } from './sqlite/servable.ts'
import { FolderBackups } from './backups.ts'
import { fileBackups } from './sqlite/backups.ts'
import { Checkpointer } from './sqlite/checkpointer.ts'
import { Commits, WalSync } from './sqlite/commits.ts'
import { type Connection, readCount, useWal } from './sqlite/connection.ts'
import { ReadingConnection, WritingConnection } from './sqlite/reader-and-writer.ts'
import {
  bytesOf,
  canonicalPath,
  companionsOf,
  createPrivately,
  FileGuard,
  freeBytesBeside,
  syncFolderOf,
} from './sqlite/files.ts'
import { assertPlace, isThere, lostSentence } from './sqlite/place.ts'
import { Room, withRoom } from './sqlite/room.ts'
import { takeServerLock } from './sqlite/lock.ts'
import { unreadable, withPlace } from './faults/system.ts'
import type { DrizzleConnection } from './queries/connection.ts'

export type SqliteOptions<Q> = {
  readonly file: string
  /**
   * `server`: the one long-lived process of the file, with group commit. `operator`: a short-lived process, beside a server or
   * alone, whose transactions are one commit each.
   */
  readonly role: 'server' | 'operator'
  /** Called for the reading and for the writing connection, and again if the writing one is replaced. */
  readonly createQueries: (db: DrizzleConnection) => Q
  readonly migrations: readonly Migration[]
  /** Whether to create the file and bring its schema up to date. Otherwise a missing or outdated one is refused. */
  readonly migrate: boolean
  /**
   * How far the WAL grows before it is copied into the database, in pages of 4 KiB. If a reader keeps it from being copied, it
   * grows further, and is truncated once it starts over.
   */
  readonly checkpointAfterPages?: number
  /** Where the server puts backups; null or left out: into the folder `backups` beside the file. */
  readonly backupFolder?: string | null
  /** How much disk space is reserved for ending access on a full disk; none by default. */
  readonly reserveBytes?: number
  /** Called with the duration of each sync of the WAL. */
  readonly onSync?: (milliseconds: number) => void
  /** Called once, when writes have stopped for good. */
  readonly onFault?: (fault: StoreFault) => void
  /** Called with the names of the migrations that this opening has applied, if it applied any. */
  readonly onMigrated?: (applied: readonly string[]) => void
  /** Of a server: the last one on this database has not closed it. */
  readonly onUncleanEnd?: () => void
}

const lockedSentence =
  'Another program has held the write lock of the database for more than 2 seconds: let it finish, or end it.'

/** A page and its header in the WAL. */
const walFrameBytes = 4_096 + 24

/**
 * Opens the store on an SQLite file.
 * @throws DatabaseUnusable with a sentence for the operator if the file is missing, not private, known under several names,
 *   another program's, newer than this program, damaged, lacks acknowledged changes, or is served by another process
 */
export const openSqlite = async <Q>(options: SqliteOptions<Q>): Promise<Store<Q>> => {
  if (!options.migrate && !isThere(options.file)) {
    const sentence = `There is no database at ${options.file}: run migrate or serve first.`
    throw new DatabaseUnusable('missing', lostSentence(options.file) ?? sentence)
  }
  const file = canonicalPath(options.file)
  assertPlace(file)
  await assertPrivate(file, options.migrations)
  return await withRoom(file, async () => await open(options, file))
}

const open = async <Q>(options: SqliteOptions<Q>, file: string): Promise<Store<Q>> => {
  const lock = options.role === 'server' ? takeServerLock(file) : null
  const isUnclean = lock !== null && bytesOf(companionsOf(file).wal) > 0 // SQLite removes it when the last connection closes
  try {
    createPrivately(file)
    await patiently(() => assertServable(file))
    if (options.migrate) {
      const applied = await migrate(file, options.migrations)
      if (applied.length > 0) options.onMigrated?.(applied)
    } else if (inspectSchema(file, options.migrations) !== 'current') {
      throw new DatabaseUnusable('outdated', `The schema of ${file} is behind this program: run migrate.`)
    }
    await patiently(() => useWal(file))
    const store = new SqliteStore({ ...options, file }, lock)
    if (isUnclean) options.onUncleanEnd?.()
    return store
  } catch (error) {
    lock?.close()
    throw error
  }
}

class SqliteStore<Q> implements Store<Q> {
  readonly queries: Q
  readonly node = 0
  readonly backups: FolderBackups
  readonly #backups: ReturnType<typeof fileBackups>

  readonly #reader: ReadingConnection<Q>
  readonly #commits: Commits<Q>
  readonly #walSync: WalSync
  readonly #acknowledged: Acknowledged
  readonly #guard: FileGuard
  readonly #checkpointer: Checkpointer | null
  readonly #timer: ReturnType<typeof setInterval>
  readonly #checkpointAfterPages: number
  readonly #room: Room
  #writer: WritingConnection<Q>
  #stopped: string | null = null
  #failedCheckpoints = 0

  constructor(
    private readonly options: SqliteOptions<Q>,
    private readonly lock: Connection | null,
  ) {
    const { file, role, createQueries, checkpointAfterPages = 4_000, reserveBytes } = options
    this.#checkpointAfterPages = checkpointAfterPages
    this.#backups = fileBackups(file)
    this.backups = new FolderBackups(options.backupFolder ?? join(dirname(file), 'backups'), this.#backups)
    this.#reader = new ReadingConnection(file, createQueries)
    this.queries = this.#reader.queries
    this.#writer = this.#openWriter()
    // The first read creates the -wal.
    this.#reader.connection.value('SELECT count(*) FROM sqlite_schema')
    const count = readCount(this.#reader.connection)
    this.#acknowledged = new Acknowledged(file, count, (error) => this.#stop(reasonOf(this.options, error), error))
    syncFolderOf(file)
    this.#walSync = new WalSync(companionsOf(file).wal, options.onSync)
    // If the -shm or the lock lost its name, other processes would write under locks of their own.
    const { wal, shm, lock: serverLock } = companionsOf(file)
    this.#guard = new FileGuard({ data: [file, wal], locks: role === 'server' ? [shm, serverLock] : [shm] })
    this.#room = new Room({ file, reserveBytes, isKeeper: role === 'server' })
    this.#checkpointer = role === 'server' ? this.#openCheckpointer() : null
    this.#commits = new Commits<Q>({
      writer: this.#writer,
      beginning: () => this.#reader.refresh(),
      replaceWriter: () => this.#replaceWriter(),
      longestWaitMs: 5_000,
      waitsOnce: role === 'operator', // its command has many transactions, and a person who waits for it
      batchLimit: role === 'server' ? 256 : 1,
      durable: () => this.#durable(),
      full: (endsAccess) => this.#room.ranOut(endsAccess),
      stateUnknown: (cause) => this.#stop(reasonOf(this.options, cause), cause),
    })
    this.#timer = setInterval(() => this.#watch(), 500)
    this.#timer.unref()
  }

  explain(error: unknown): unknown {
    if (!(error instanceof PlatformError) || error.code !== 'unavailable') return withPlace(this.options.file, error)
    const { problem, reason } = this.health()
    if (problem === null) return error
    const kind = problem === 'full' ? 'full' : problem === 'failed' ? 'out_of_reach' : 'busy'
    return new DatabaseUnusable(kind, reason, { cause: error })
  }

  transaction<T>(work: (queries: Q) => Awaitable<T>, { endsAccess, isLong }: TransactionOptions<T> = {}): Promise<T> {
    if (endsAccess !== undefined) {
      return this.#commits.transaction(this.#ending(work, endsAccess), { endsAccess: true, isLong })
    }
    return this.#room.reason === null ? this.#commits.transaction(work, { isLong }) : Promise.reject(noRoom())
  }

  /** Refuses a transaction that ended no access, so that the reserve is not used up by the traces of refusals. */
  #ending<T>(work: (queries: Q) => Awaitable<T>, endsAccess: (value: T) => boolean) {
    return async (queries: Q): Promise<T> => {
      const value = await work(queries)
      if (this.#room.reason !== null && !endsAccess(value)) throw noRoom()
      return value
    }
  }

  health(): StoreHealth {
    if (this.#stopped !== null) return { writable: false, problem: 'failed', reason: this.#stopped }
    const full = this.#room.reason
    if (full !== null) return { writable: false, problem: 'full', reason: full }
    if (this.#commits.isLocked) return { writable: false, problem: 'locked', reason: lockedSentence }
    return { writable: true, problem: null, reason: null }
  }

  leads(): boolean {
    return true
  }

  sharing(): null {
    return null
  }

  time(): null {
    return null
  }

  readonly cluster = null
  readonly renewPassword = null

  statistics(): StoreStatistics {
    return {
      transactions: this.#commits.transactions,
      commits: this.#commits.commits,
      databaseBytes: bytesOf(this.options.file),
      walBytes: bytesOf(companionsOf(this.options.file).wal),
      writable: this.health().writable,
      freeDiskBytes: freeBytesBeside(this.options.file),
      lockWaits: this.#commits.lockWaits,
      failedCheckpoints: this.#failedCheckpoints,
    }
  }

  keptTime(): number | null {
    return readKeptTime(this.options.file)
  }

  keepTime(at: number): void {
    if (this.#stopped === null) this.#acknowledged.noteTime(at)
  }

  async close(): Promise<void> {
    this.#backups.close()
    await this.#commits.drain()
    clearInterval(this.#timer)
    await this.#acknowledged.close({ failed: this.#stopped !== null })
    if (this.#stopped === null) await this.#letGo()
    this.#walSync.close()
    this.lock?.close()
  }

  async #letGo(): Promise<void> {
    await this.#checkpointer?.close()
    // The last connection to close copies the rest of the WAL and removes it. If other processes have the file open, at least
    // nothing is left to copy.
    if (this.options.role === 'server') this.#writer.connection.value('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#reader.close()
    this.#writer.close()
  }

  #openWriter(): WritingConnection<Q> {
    const { file, role, createQueries } = this.options
    const writer = new WritingConnection(file, role === 'server' ? 'NORMAL' : 'FULL', createQueries)
    if (role === 'server') {
      writer.connection.run('PRAGMA wal_autocheckpoint = 0')
      writer.connection.run(`PRAGMA journal_size_limit = ${this.#checkpointAfterPages * walFrameBytes}`)
    }
    return writer
  }

  #openCheckpointer(): Checkpointer {
    return new Checkpointer({
      file: this.options.file,
      afterPages: this.#checkpointAfterPages,
      failed: (error) => this.#checkpointFailed(error),
    })
  }

  #replaceWriter(): WritingConnection<Q> {
    this.#writer.close()
    return (this.#writer = this.#openWriter())
  }

  /**
   * An operator's commits are durable when they return. The files are checked before each answer, so that no acknowledged
   * change is in a file that has lost its name.
   */
  async #durable(): Promise<void> {
    if (this.options.role === 'server') await this.#walSync.sync()
    const moved = this.#guard.fault()
    if (moved !== null) throw new FileMoved(moved)
    if (this.#writer.count !== null) this.#acknowledged.note(this.#writer.count)
    this.#reader.refresh()
  }

  /** The WAL still has every page, so a later checkpoint tries again, unless the disk failed. */
  #checkpointFailed(error: unknown): void {
    this.#failedCheckpoints += 1
    // A file that could not be opened was not written to. A file that has lost its name is noticed elsewhere.
    const isNotOpened = sqliteCode(error)?.startsWith('SQLITE_CANTOPEN') === true
    if (!isNotOpened && faultKind(error) === 'state_unknown') this.#stop(reasonOf(this.options, error), error)
  }

  #watch(): void {
    const moved = this.#guard.fault()
    if (moved !== null) return this.#stop(moved, new FileMoved(moved))
    if (this.options.role === 'server') this.#commits.probe()
    void this.#room.look(async () => await this.#commits.transaction(async () => this.#writer.countUp()))
  }

  #stop(reason: string, cause: unknown): void {
    if (this.#stopped !== null) return
    this.#stopped = reason
    abandon(this.#writer, this.#reader, this.#checkpointer)
    this.#commits.stop(() => refuse('unavailable', { retryAfterSeconds: 30 }))
    this.options.onFault?.({ reason, cause })
  }
}

const noRoom = () => refuse('unavailable', { retryAfterSeconds: 5 })

class FileMoved extends Error {}

/** Why writes have stopped: the file was moved, or what its place, its disk or its content does. */
const reasonOf = ({ file, role }: Pick<SqliteOptions<unknown>, 'file' | 'role'>, cause: unknown): string => {
  if (cause instanceof FileMoved) return cause.message
  const { message, kind } = unreadable(file, cause)
  if (role === 'server') return `${message} What was kept of the last changes will only be known after a restart.`
  // Damage is found by reading, before anything is committed.
  return kind === 'damaged'
    ? message
    : `${message} Whether the change was kept is known once the database can be read again.`
}
