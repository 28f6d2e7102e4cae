import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { DatabaseUnusable } from '../database.ts'
import { companionsOf } from './files.ts'

/** Older versions can corrupt a database when its WAL restarts during a checkpoint. macOS may bring its own SQLite. */
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

  /** All rows of a statement that is run once. */
  rows<Row>(sql: string, ...bindings: SQLQueryBindings[]): readonly Row[] {
    using statement = super.prepare<Row, SQLQueryBindings[]>(sql)
    return statement.all(...bindings)
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
export const connect = (
  file: string,
  { synchronous = 'FULL', busyTimeoutMs = 1_000 }: { synchronous?: Synchronous; busyTimeoutMs?: number } = {},
): Connection => {
  const connection = new Connection(file, { readwrite: true, create: false, safeIntegers: false })
  try {
    connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`) // first: the other pragmas may find a lock
    const version = sqliteVersionOf(connection)
    if (Bun.semver.order(version, oldestSafe) < 0) {
      const sentence = `SQLite ${version} can corrupt databases; ${oldestSafe} or newer is needed.`
      throw new DatabaseUnusable('old_sqlite', sentence)
    }
    connection.run(`PRAGMA synchronous = ${synchronous}`)
    connection.run('PRAGMA foreign_keys = ON')
    connection.run('PRAGMA secure_delete = ON') // what was deleted must not stay in free pages
    connection.run('PRAGMA trusted_schema = OFF')
    connection.run('PRAGMA cell_size_check = ON')
    connection.run('PRAGMA cache_size = -16384')
    connection.run('PRAGMA temp_store = MEMORY') // a temporary file would need a descriptor when none may be free
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * A connection that changes nothing. If there is a WAL, only a read-only connection leaves it as it is: a writing one copies it
 * into the database as it closes. Without a WAL a writing one is right, because a read-only one leaves an empty WAL behind.
 */
export const connectForLooking = (file: string): Connection =>
  existsSync(companionsOf(file).wal)
    ? new Connection(file, { readonly: true })
    : new Connection(file, { readwrite: true, create: false })

/**
 * Sets WAL mode, which is stored in the file. A new file and a restored backup do not have it yet. Throws while other processes
 * use the file.
 */
export const useWal = (file: string): void => {
  using connection = connect(file, { busyTimeoutMs: 50 })
  if (connection.value('PRAGMA journal_mode = WAL') === 'wal') return
  throw new DatabaseUnusable('unsupported', `SQLite cannot share ${file} between processes on this file system.`)
}

const sqliteVersionOf = (connection: Connection): string => String(connection.value('SELECT sqlite_version()'))

/** The version of SQLite that is built into this program, such as `3.54.1`. */
export const sqliteVersion = (): string => {
  using connection = new Connection(':memory:')
  return sqliteVersionOf(connection)
}

/*
 * `user_version` counts the commits of a database. Its 32 bits wrap around, so of two counts the later one is ahead by less
 * than half of the range.
 */

export const nextCount = (count: number): number => (count + 1) | 0

export const isBehind = (count: number, other: number): boolean => ((count - other) | 0) < 0

export const laterCount = (count: number, other: number): number => (isBehind(count, other) ? other : count)

export const readCount = (connection: Connection): number => Number(connection.value('PRAGMA main.user_version'))
