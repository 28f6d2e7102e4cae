import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { nextCount } from './commit-count.ts'
import { connect, type Connection, type Synchronous } from './connection.ts'

/**
 * The one connection that writes: its queries and the statements that bound a transaction. Its queries refuse to run
 * outside of a transaction, where each would commit by itself: a forgotten `await`, or SQLite having rolled everything
 * back.
 */
export class WritingConnection<Q> {
  readonly queries: Q
  readonly connection: Connection
  readonly begin: () => void
  readonly commit: () => void
  /** How many commits the database has seen with the last one of this connection; null before that. */
  count: number | null = null
  readonly savepoint: () => void
  readonly release: () => void

  readonly #readCount: () => number
  readonly #totalChanges: () => number
  readonly #rollback: () => void
  readonly #rollbackToSavepoint: () => void
  #changes = 0
  /** What the count will be once the commit under way is made. */
  #counting: number | null = null

  constructor(file: string, synchronous: Synchronous, createQueries: (db: BunSQLiteDatabase) => Q) {
    // Who waits for a lock inside SQLite stops every request; the queue waits outside.
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
    const commit = statement('COMMIT')
    this.commit = () => {
      this.#countChange()
      commit()
      this.count = this.#counting ?? this.count
      this.#counting = null
    }
    this.#readCount = number('PRAGMA user_version')
    this.#totalChanges = number('SELECT total_changes()')
    this.savepoint = statement('SAVEPOINT job')
    this.release = statement('RELEASE job')
    this.#rollback = statement('ROLLBACK')
    this.#rollbackToSavepoint = statement('ROLLBACK TO job')
    // drizzle tells its logger just before it runs a statement.
    const logQuery = () => {
      if (!connection.inTransaction) throw new Error('A query was used outside of its transaction.')
    }
    this.queries = createQueries(drizzle(connection, { logger: { logQuery } }))
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

  /** SQLite rolls back by itself on some errors; then there is nothing left to do. */
  rollback(): void {
    this.#counting = null
    if (this.connection.inTransaction) this.#rollback()
  }

  close(): void {
    this.connection.close()
  }

  #countChange(): void {
    const changes = this.#totalChanges()
    if (changes !== this.#changes) this.countUp()
    this.#changes = changes
  }
}
