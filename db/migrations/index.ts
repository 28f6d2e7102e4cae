import { createHash } from 'node:crypto'
import { lazily } from '../../src/domain/remembered.ts'
import type { Migration } from '../migrate.ts'
import type { PostgresMigration } from '../postgres/schema.ts'
import initial from './0001_initial.sql' with { type: 'text' }
import servers from './servers.sql' with { type: 'text' }

/** Every step of the schema, in order, embedded in the program. Append only: a released step never changes, which its checksum proves. */
export const migrations: readonly Migration[] = [
  { id: 1, name: 'initial', sql: initial, sha256: 'cd713246709395d739c676c3da1cf391e844c05f348df707979dd5dbbbf30618' },
]

/**
 * A step in the words of PostgreSQL. Keys and cursors are compared byte by byte, so every text has the collation "C". Foreign keys come
 * last, because two tables refer to each other. An index takes no text that is as long as a description.
 */
const inPostgres = (sql: string): string => {
  const references: string[] = []
  const tables = sql
    .replaceAll(/\bTEXT\b/g, 'text COLLATE "C"')
    .replaceAll(/\bINTEGER\b/g, 'bigint')
    .replaceAll(/\bBLOB\b/g, 'bytea')
    .replaceAll(/\) STRICT(?:, WITHOUT ROWID)?;/g, ');')
    .replaceAll(/CREATE INDEX apps_in_directory[^;]*;/g, '')
    .replaceAll(/CREATE TABLE (\w+) \([^;]*;/g, (table, name: string) =>
      table.replaceAll(
        /^  (\w+) (.*?) (REFERENCES \w+ \(\w+\))/gm,
        (_, column: string, type: string, target: string) => {
          references.push(`ALTER TABLE ${name} ADD FOREIGN KEY (${column}) ${target};`)
          return `  ${column} ${type}`
        },
      ),
    )
  return [tables, ...references].join('\n')
}

/** The same steps for PostgreSQL. The first one also has what only servers that share a database need. */
export const postgresMigrations: readonly PostgresMigration[] = migrations.map(({ id, name, sql }) => {
  const text = lazily(() => (id === 1 ? servers : '') + inPostgres(sql)) // not for every start on SQLite
  return {
    id,
    name,
    get sql() {
      return text()
    },
    get sha256() {
      return createHash('sha256').update(text()).digest('hex')
    },
  }
})

/**
 * What the transaction of a step leaves, in SQL that both engines read: from and to which step the schema was brought. The next opening of
 * the platform makes an audit event of it (`recordMigration`), also after a kill, and one event of several steps.
 */
export const notesOfStep = (from: number, to: number): readonly string[] => [
  `INSERT INTO watermarks (name, at) VALUES ('migrated_from', ${from}) ON CONFLICT (name) DO NOTHING`,
  `INSERT INTO watermarks (name, at) VALUES ('migrated_to', ${to}) ON CONFLICT (name) DO UPDATE SET at = excluded.at`,
]
