import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
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
  readonly savepoint: () => void
  readonly release: () => void

  readonly #rollback: () => void
  readonly #rollbackToSavepoint: () => void

  constructor(file: string, synchronous: Synchronous, createQueries: (db: BunSQLiteDatabase) => Q) {
    // Who waits for a lock inside SQLite stops every request; the queue waits outside.
    const connection = connect(file, { synchronous, busyTimeoutMs: 0 })
    const statement = (sql: string) => {
      const prepared = connection.prepare<unknown, []>(sql)
      return () => void prepared.run()
    }
    this.connection = connection
    this.begin = statement('BEGIN IMMEDIATE')
    this.commit = statement('COMMIT')
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

  /** SQLite rolls back by itself on some errors; then there is nothing left to do. */
  rollback(): void {
    if (this.connection.inTransaction) this.#rollback()
  }

  close(): void {
    this.connection.close()
  }
}
