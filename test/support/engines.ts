import { test } from 'bun:test'
import { onPostgres } from './postgres.ts'

/** Everything for which a test is about SQLite alone, and is skipped on PostgreSQL. */
type SqliteOnly =
  /** The trusted time is kept in a file beside the database, also ahead of every clock. On PostgreSQL its clock is the bound. */
  | 'time beside the file'
  /** The plan of a query is read as SQLite writes it. */
  | 'query plan'
  /** Backups and restores work on files. PostgreSQL has its own. */
  | 'restore of a file'
  /** Another program can lock the whole file. Of a PostgreSQL that is not reached, no page can be read. */
  | 'locked file'
  /** A database moves to another machine as a file, or into PostgreSQL, from where it does not move. */
  | 'move of a file'
  /** Where the file is, who may read it, what is beside it, and what damages it. */
  | 'place of the file'
  /** A file has one server. A PostgreSQL database has any number. */
  | 'one server'

/** `test` for a rule that holds on SQLite only, and why. */
export const onSqlite = (_reason: SqliteOnly): typeof test => (onPostgres ? test.skip : test)
