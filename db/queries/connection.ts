import { getTableColumns, type Placeholder, sql, type Table } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'

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
