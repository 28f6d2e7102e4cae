import type { Migration } from '../migrate.ts'
import { Connection } from './connection.ts'
import { objectsOf, type SchemaObject, structuresOf } from './schema-structure.ts'

/** Where the applied migrations are recorded; made along with the first one. */
export const recordOfMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id INTEGER PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL
) STRICT`

/**
 * A trigger, a view or a virtual table in a file; null when there is none. The migrations make none, and each runs what
 * somebody else wrote, so it is looked for before anything is read from the file.
 */
export const activeObject = (connection: Connection): SchemaObject | null =>
  objectsOf(connection).find(({ type, sql }) => isActive(type, sql)) ?? null

const isActive = (type: string, sql: string | null): boolean =>
  (type !== 'table' && type !== 'index') || /^\s*CREATE\s+VIRTUAL\b/i.test(sql ?? '')

/** What differs from the schema that the migrations make. */
export type Difference = { readonly kind: 'foreign' | 'not_as_made'; readonly object: SchemaObject }

/**
 * The first table or index that the migrations do not make, or make otherwise; null when there is none. Compares what
 * SQLite goes by, not how it is written: a later SQLite may write the same schema in other words. The expectation comes
 * from the program alone. Takes about 2 ms where the text is the same, which needs no closer look.
 */
export const differenceFrom = (connection: Connection, migrations: readonly Migration[]): Difference | null => {
  using made = new Connection(':memory:')
  made.run('PRAGMA foreign_keys = OFF') // as it is when they are applied
  made.run(recordOfMigrations)
  for (const { sql } of migrations) made.run(sql)
  const expected = new Map(objectsOf(made).map((object) => [object.name, object]))
  const found = objectsOf(connection)
  const foreign = found.find(({ name }) => !expected.has(name))
  if (foreign !== undefined) return { kind: 'foreign', object: foreign }
  const isSame = ({ name, sql }: SchemaObject): boolean => expected.get(name)?.sql === sql
  if (found.length === expected.size && found.every(isSame)) return null
  const [structures, asMade] = [structuresOf(connection), structuresOf(made)]
  const object = [...expected.values()].find(({ name }) => structures.get(name) !== asMade.get(name))
  return object === undefined ? null : { kind: 'not_as_made', object }
}
