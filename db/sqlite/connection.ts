import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'
import { DatabaseUnusable } from '../database.ts'

/** Older ones can corrupt a database when its WAL restarts beside a checkpoint; macOS may bring its own SQLite. */
const oldestSafe = '3.51.3'

export type Synchronous = 'NORMAL' | 'FULL'

/**
 * One connection of SQLite. It remembers its statements: bun:sqlite's `close` leaves a connection with unfinalized
 * statements half open, with its locks and its WAL.
 */
export class Connection extends Database {
  #statements = new Set<WeakRef<Statement<unknown, never>>>()
  #pruneAt = 1_000
  /** Some statements were collected, and perhaps not finalized yet. */
  #collected = false

  override prepare<Row, Bindings extends SQLQueryBindings | SQLQueryBindings[]>(sql: string, bindings?: Bindings) {
    const statement = super.prepare<Row, Bindings>(sql, bindings)
    this.#statements.add(new WeakRef(statement))
    if (this.#statements.size > this.#pruneAt) this.#prune()
    return statement
  }

  /** The first column of the first row, for pragmas and counts. */
  value(sql: string): unknown {
    using statement = super.prepare<unknown, []>(sql)
    return statement.values()[0]?.[0]
  }

  override close(): void {
    for (const statement of this.#statements) {
      const live = statement.deref()
      if (live === undefined) this.#collected = true
      else live.finalize()
    }
    this.#statements.clear()
    // What was collected is finalized only when it is swept; until then the file would stay half open.
    if (this.#collected) Bun.gc(true)
    super.close()
  }

  #prune(): void {
    for (const statement of this.#statements) {
      if (statement.deref() !== undefined) continue
      this.#statements.delete(statement)
      this.#collected = true
    }
    this.#pruneAt = Math.max(1_000, this.#statements.size * 2)
  }
}

/** A connection for reading and writing, with the settings that every connection has. Never creates the file. */
export const connect = (file: string, options: { synchronous: Synchronous; busyTimeoutMs: number }): Connection => {
  const connection = new Connection(file, { readwrite: true, create: false, safeIntegers: false })
  try {
    connection.run(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`) // first: the others may find it locked
    assertSafeVersion(connection)
    connection.run(`PRAGMA synchronous = ${options.synchronous}`)
    connection.run('PRAGMA foreign_keys = ON')
    connection.run('PRAGMA trusted_schema = OFF')
    connection.run('PRAGMA cell_size_check = ON')
    connection.run('PRAGMA cache_size = -16384')
    connection.run('PRAGMA temp_store = MEMORY') // a temporary file would need a descriptor when there may be none
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * WAL is a property of the file and stays; a new file and a restored backup do not have it yet. Throws while others use
 * the file.
 */
export const useWal = (file: string): void => {
  const connection = connect(file, { synchronous: 'FULL', busyTimeoutMs: 50 })
  try {
    const mode = connection.value('PRAGMA journal_mode = WAL')
    if (mode !== 'wal')
      throw new DatabaseUnusable('unsupported', `SQLite cannot share ${file} between processes on this file system.`)
  } finally {
    connection.close()
  }
}

const assertSafeVersion = (connection: Connection): void => {
  const version = String(connection.value('SELECT sqlite_version()'))
  if (Bun.semver.order(version, oldestSafe) < 0) {
    throw new DatabaseUnusable(
      'old_sqlite',
      `SQLite ${version} can corrupt databases; ${oldestSafe} or newer is needed.`,
    )
  }
}
