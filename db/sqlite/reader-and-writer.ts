// The two connections of an open database, with the queries that run on them. Threads need none, so they do not load drizzle.

import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { DrizzleConnection } from '../queries/connection.ts'
import { connect, type Connection, nextCount, type Synchronous } from './connection.ts'

/** drizzle on a connection, with something to do before each statement: it calls its logger just before it runs one. */
const watched = (connection: Connection, before: () => void): DrizzleConnection =>
  Object.assign(drizzle(connection, { logger: { logQuery: before } }), { before })

/** How old the state that a read sees may be, with respect to commits of other processes. */
const longestShareMs = 1

/**
 * The connection for plain reads. Reads of one turn of the event loop share one read transaction, which saves each of them
 * the locks and the look at the WAL (about 2 of 8 µs). A read never sees a state older than the last transaction that this
 * process answered, because `refresh` is called before each answer, and never one more than a millisecond older than what
 * other processes have committed.
 */
export class ReadingConnection<Q> {
  readonly queries: Q
  readonly connection: Connection

  readonly #begin: () => void
  readonly #end: () => void
  #shared = false
  #since = 0

  constructor(file: string, createQueries: (db: DrizzleConnection) => Q) {
    const connection = connect(file, { busyTimeoutMs: 50 })
    connection.run('PRAGMA query_only = ON')
    const begin = connection.prepare<unknown, []>('BEGIN')
    const commit = connection.prepare<unknown, []>('COMMIT')
    this.connection = connection
    this.#begin = () => void begin.run()
    this.#end = () => {
      try {
        if (connection.inTransaction) commit.run()
      } catch {
        // After a damaged page SQLite refuses it. The read that met the page has said so.
        if (connection.inTransaction) connection.run('ROLLBACK')
      }
    }
    this.queries = createQueries(watched(connection, () => this.#share()))
  }

  /** Lets the next read see everything that is committed now. */
  refresh(): void {
    if (!this.#shared) return
    this.#shared = false
    this.#end()
  }

  close(): void {
    this.#shared = false
    this.connection.close()
  }

  #share(): void {
    const now = performance.now()
    if (this.#shared && now - this.#since <= longestShareMs) return
    this.refresh()
    this.#shared = true
    this.#since = now
    this.#begin()
    setImmediate(() => this.refresh())
  }
}

/**
 * The only connection that writes: its queries, and the statements that delimit a transaction. Its queries refuse to run outside
 * of a transaction, where each would commit by itself, as after a forgotten `await` or a rollback by SQLite.
 */
export class WritingConnection<Q> {
  readonly queries: Q
  readonly connection: Connection
  readonly begin: () => void
  readonly savepoint: () => void
  readonly release: () => void
  /** The count of commits after this connection's last one; null before its first. */
  count: number | null = null

  readonly #commit: () => void
  readonly #readCount: () => number
  readonly #totalChanges: () => number
  readonly #rollback: () => void
  readonly #rollbackToSavepoint: () => void
  #changes = 0
  /** The count once the commit under way is made; null if it does not count. */
  #counting: number | null = null

  constructor(file: string, synchronous: Synchronous, createQueries: (db: DrizzleConnection) => Q) {
    // Waiting for a lock inside SQLite would stop every request. The queue waits outside.
    const connection = connect(file, { synchronous, busyTimeoutMs: 0 })
    const statement = (sql: string) => {
      const prepared = connection.prepare<unknown, []>(sql)
      return () => void prepared.run()
    }
    const number = (sql: string) => {
      const prepared = connection.prepare<unknown, []>(sql)
      return () => Number(prepared.values()[0]?.[0])
    }
    this.connection = connection
    this.begin = statement('BEGIN IMMEDIATE')
    this.savepoint = statement('SAVEPOINT job')
    this.release = statement('RELEASE job')
    this.#commit = statement('COMMIT')
    this.#readCount = number('PRAGMA user_version')
    this.#totalChanges = number('SELECT total_changes()')
    this.#rollback = statement('ROLLBACK')
    this.#rollbackToSavepoint = statement('ROLLBACK TO job')
    const before = () => {
      if (!connection.inTransaction) throw new Error('A query was used outside of its transaction.')
    }
    this.queries = createQueries(watched(connection, before))
  }

  /** Commits, and counts the commit if it changes a row. */
  commit(): void {
    const changes = this.#totalChanges()
    if (changes !== this.#changes) this.countUp()
    this.#changes = changes
    this.#commit()
    this.count = this.#counting ?? this.count
    this.#counting = null
  }

  rollbackToSavepoint(): void {
    this.#rollbackToSavepoint()
    this.release()
  }

  /** Counts the commit that is about to be made. Writes the first page. */
  countUp(): void {
    const count = nextCount(this.#readCount())
    this.connection.run(`PRAGMA user_version = ${count}`)
    this.#counting = count
  }

  /** Does nothing if SQLite has already rolled back, as it does on some errors. */
  rollback(): void {
    this.#counting = null
    if (this.connection.inTransaction) this.#rollback()
  }

  close(): void {
    this.connection.close()
  }
}
