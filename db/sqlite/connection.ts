import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { DatabaseUnusable } from '../database.ts'

/** Older ones can corrupt a database when its WAL restarts beside a checkpoint; macOS may bring its own SQLite. */
const oldestSafe = '3.51.3'

export type Synchronous = 'NORMAL' | 'FULL'

/** How many statements a connection keeps, by their text. The program has some 300; searches make more. */
const keptStatements = 1_000

/**
 * One connection of SQLite. It keeps its statements: preparing one takes longer than running it, and bun:sqlite's `close`
 * leaves a connection with unfinalized statements half open, with its locks and its WAL.
 */
export class Connection extends Database {
  #kept = new Map<string, { readonly isFinalized: boolean; finalize(): void }>()
  /** Some statements were not kept, and perhaps are not finalized yet. */
  #hasOthers = false

  override prepare<Row, Bindings extends SQLQueryBindings | SQLQueryBindings[]>(sql: string, bindings?: Bindings) {
    const kept = this.#kept.get(sql)
    if (kept?.isFinalized === false) return kept as never // the same text gives the same rows, whatever type the caller names
    const statement = super.prepare<Row, Bindings>(sql, bindings)
    if (kept !== undefined || this.#kept.size < keptStatements) this.#kept.set(sql, statement)
    else this.#hasOthers = true
    return statement
  }

  /** The first column of the first row, for pragmas and counts. */
  value(sql: string): unknown {
    using statement = super.prepare<unknown, []>(sql)
    return statement.values()[0]?.[0]
  }

  override close(): void {
    for (const statement of this.#kept.values()) statement.finalize()
    this.#kept.clear()
    // The others are finalized when they are collected; until then the file would stay half open.
    if (this.#hasOthers) Bun.gc(true)
    super.close()
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
