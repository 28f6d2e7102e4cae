import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { count, eq, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { backupFile } from '../../../../db/backup.ts'
import { findFaults } from '../../../../db/check.ts'
import type { Store } from '../../../../db/database.ts'
import type { Migration } from '../../../../db/migrate.ts'
import { Connection } from '../../../../db/sqlite/connection.ts'
import { openSqlite, type SqliteOptions } from '../../../../db/sqlite.ts'
import { parentOfFolders } from '../../../support/temporary-folder.ts'

/** Notes that may have replies: the smallest schema with a foreign key and something to spend once. */
const notes = sqliteTable('notes', {
  id: text().primaryKey(),
  body: text().notNull(),
  replyTo: text('reply_to'),
  spentAt: integer('spent_at'),
})

export const migrationOf = (id: number, name: string, sql: string): Migration => ({
  id,
  name,
  sql,
  sha256: createHash('sha256').update(sql).digest('hex'),
})

export const tinyMigrations: readonly Migration[] = [
  migrationOf(
    1,
    'notes',
    `CREATE TABLE notes (
      id TEXT PRIMARY KEY NOT NULL,
      body TEXT NOT NULL,
      reply_to TEXT REFERENCES notes (id),
      spent_at INTEGER
    ) STRICT;`,
  ),
]

export const tinyQueries = (db: BunSQLiteDatabase) => {
  const insert = db
    .insert(notes)
    .values({ id: sql.placeholder('id'), body: sql.placeholder('body'), replyTo: sql.placeholder('replyTo') })
    .prepare()
  const find = db
    .select()
    .from(notes)
    .where(eq(notes.id, sql.placeholder('id')))
    .prepare()
  const total = db.select({ rows: count() }).from(notes).prepare()
  const ids = db.select({ id: notes.id }).from(notes).orderBy(notes.id).prepare()
  const spend = db
    .update(notes)
    .set({ spentAt: sql`${sql.placeholder('at')}` })
    .where(sql`${notes.id} = ${sql.placeholder('id')} AND ${notes.spentAt} IS NULL`)
    .returning({ id: notes.id })
    .prepare()
  return {
    add: async (id: string, body = 'a note', replyTo: string | null = null) =>
      void (await insert.execute({ id, body, replyTo })),
    remove: async (id: string) => void (await db.delete(notes).where(eq(notes.id, id))),
    find: async (id: string) => (await find.execute({ id }))[0] ?? null,
    count: async () => (await total.execute())[0]?.rows ?? 0,
    ids: async () => (await ids.execute()).map((row) => row.id),
    /** Exactly once: true for the one caller that found it unspent. */
    spend: async (id: string, at: number) => (await spend.execute({ id, at })).length === 1,
  }
}

/** What is wrong with a database of notes, which may be in use. */
export const faultsIn = (file: string): readonly string[] => {
  using connection = new Connection(file, { readonly: true })
  return findFaults(connection, file, tinyMigrations)
}

/** Backs up a database of notes, which may be in use. */
export const backUpTiny = (file: string, to: string, replace = false): void =>
  backupFile({ file, to, replace, migrations: tinyMigrations })

export type TinyQueries = ReturnType<typeof tinyQueries>
export type TinyStore = Store<TinyQueries>

export const openTiny = (file: string, options: Partial<SqliteOptions<TinyQueries>> = {}): Promise<TinyStore> =>
  openSqlite({
    role: 'server',
    createQueries: tinyQueries,
    migrations: tinyMigrations,
    migrate: true,
    ...options,
    file,
  })

/** A private folder that is removed when the scope ends. */
export const temporaryFolder = () => {
  const path = mkdtempSync(join(parentOfFolders, 'engine-'))
  return {
    path,
    file: join(path, 'tiny.db'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
