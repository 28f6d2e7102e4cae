import { type AnyColumn, getTableColumns, type Placeholder, type SQL, sql, type Table } from 'drizzle-orm'
import type { Database } from 'bun:sqlite'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { Statements } from '../postgres/dialect.ts'
import type { Environment } from '../../src/domain/app.ts'

/**
 * One connection, reading or writing. Every query is written once and prepared on both. On PostgreSQL it has the same builders,
 * and everything it answers is a promise.
 */
export type DrizzleConnection = BunSQLiteDatabase & { readonly $client: Database } & {
  /** Called before each statement. */
  readonly before?: () => void
  /** Of an engine on another machine: what prepares and runs its statements. */
  readonly statements?: Statements
  /**
   * Of an engine that runs several transactions at once: the next position of the outbox, under a lock of this app in this
   * environment that is held until the transaction ends. So the positions of its events follow the order of their commits.
   */
  readonly takePosition?: (appId: string, environment: Environment) => Promise<number>
  /** Of an engine with a clock of its own: the time, or that of the clock if it is earlier. */
  readonly notAhead?: (at: number) => SQL<number>
}

/** A placeholder named as its column for each column of the table: what a prepared insert of a whole row takes. */
export const everyColumn = <T extends Table>(table: T) =>
  Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)])) as {
    // Object.fromEntries forgets the keys it was given; the table knows them.
    [Column in keyof T['_']['columns'] & string]: Placeholder<Column>
  }

/** The only row, or null. */
export const only = <T>(rows: readonly T[]): T | null => rows[0] ?? null

/**
 * A value that is given when the statement runs. The plus sign changes nothing about the value and hides it from SQLite's planner:
 * where the planner has looked at a bound value, in WHERE or LIMIT, SQLite prepares the whole statement again for the next
 * one, which costs 2 µs and with joins over 10 (`bun run bench` rests on it). So a hot statement binds no value bare, not even a
 * constant. Another engine's `given` is the placeholder alone. A column tells how its values are stored, where that is not
 * as they are.
 */
export const given = (name: string, column?: AnyColumn): SQL =>
  column === undefined ? sql`+${sql.placeholder(name)}` : sql`+${sql.param(sql.placeholder(name), column)}`

/** The same for LIMIT. drizzle writes whatever it is given there, but has typed it too narrowly. */
export const givenLimit = (name: string) => given(name) as unknown as Placeholder
/** A limit in the text of a statement, which is no value of it. */
export const one = sql`1` as unknown as Placeholder
