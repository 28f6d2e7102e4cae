import { eq, type GetColumnData, getTableColumns, type Placeholder, type SQL, sql, type SQLWrapper, type Table } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** One connection, reading or writing. Every query is written once and prepared on both. */
export type Connection = BunSQLiteDatabase

/** A placeholder named as its column for each column of the table: what a prepared insert of a whole row takes. */
export const everyColumn = <T extends Table>(table: T) =>
  Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)])) as {
    // Object.fromEntries forgets the keys it was given; the table knows them.
    [Column in keyof T['_']['columns'] & string]: Placeholder<Column>
  }

/** The only row, or null. */
export const only = <T>(rows: readonly T[]): T | null => rows[0] ?? null

/** Prepares on first use, so that opening a database costs nothing for questions that are never asked. */
export const lazily = <T>(prepare: () => T): (() => T) => {
  let prepared: T | undefined
  return () => (prepared ??= prepare())
}

export const given = sql.placeholder

/**
 * One column of the row that a key names, as a scalar subquery. A hot read is put together from these and not from
 * joins: under Bun a statement with a join costs 3 to 8 µs more than the same lookups written this way (`bun run bench`
 * measures what rests on it). The key must name a row; foreign keys see to that.
 */
export const lookup = <T extends SQLiteTable, C extends SQLiteColumn>(
  db: Connection,
  table: T,
  column: C,
  key: SQLiteColumn,
  named: SQLWrapper,
): SQL<GetColumnData<C>> =>
  // mapWith keeps the column's decoding and forgets that it may be null.
  sql`${db.select({ value: column }).from(table).where(eq(key, named))}`.mapWith(column) as SQL<GetColumnData<C>>
