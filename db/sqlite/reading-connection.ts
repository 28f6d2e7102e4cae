import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { connect, type Connection } from './connection.ts'

/** How much older than a read the state it sees may be, for commits of other processes. */
const longestShareMs = 1

/**
 * The connection for plain reads. Reads of one turn of the event loop share one read transaction, which spares each of
 * them the locks and the look at the WAL (about 2 µs of 8). What a read sees is never older than the last transaction
 * that this process answered, because `refresh` is called before each answer; and never older than a millisecond
 * against other processes.
 */
export class ReadingConnection<Q> {
  readonly queries: Q
  readonly connection: Connection

  readonly #begin: () => void
  readonly #end: () => void
  #shared = false
  #since = 0

  constructor(file: string, createQueries: (db: BunSQLiteDatabase) => Q) {
    const connection = connect(file, { synchronous: 'FULL', busyTimeoutMs: 50 })
    connection.run('PRAGMA query_only = ON')
    const begin = connection.prepare<unknown, []>('BEGIN')
    const commit = connection.prepare<unknown, []>('COMMIT')
    this.connection = connection
    this.#begin = () => void begin.run()
    this.#end = () => void (connection.inTransaction && commit.run())
    // drizzle tells its logger just before it runs a statement.
    this.queries = createQueries(drizzle(connection, { logger: { logQuery: () => this.#share() } }))
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
