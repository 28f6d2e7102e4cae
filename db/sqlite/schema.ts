/*
 * Compares the schema of a file with the one that the migrations make, and refuses anything that others have added.
 */
import { Connection } from './connection.ts'

/** The table that records the applied migrations. It is created with the first one. */
export const recordOfMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id INTEGER PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL
) STRICT`

/**
 * A trigger, a view or a virtual table in a file; null if there is none. The migrations make none, and each of them runs code
 * that somebody else wrote, so this is checked before anything is read from the file.
 */
export const activeObject = (connection: Connection): SchemaObject | null =>
  objectsOf(connection).find(({ type, sql }) => isActive(type, sql)) ?? null

const isActive = (type: string, sql: string | null): boolean =>
  (type !== 'table' && type !== 'index') || /^\s*CREATE\s+VIRTUAL\b/i.test(sql ?? '')

/** A difference from the schema that the migrations make. */
type Difference = { readonly kind: 'foreign' | 'not_as_made'; readonly object: SchemaObject }

/**
 * The first table or index that the migrations do not make, or make differently; null if there is none. The expected schema
 * comes from the program alone. SQL is compared word by word: spaces, comments, quotes and case say nothing.
 */
export const differenceFrom = (connection: Connection, migrations: readonly Made[]): Difference | null => {
  const expected = objectsMadeBy(migrations)
  const found = objectsOf(connection)
  const foreign = found.find(({ name }) => !expected.has(name))
  if (foreign !== undefined) return { kind: 'foreign', object: foreign }
  const sqlOf = new Map(found.map(({ name, sql }) => [name, sql]))
  const isSame = ({ name, sql }: SchemaObject): boolean =>
    sqlOf.has(name) && (sqlOf.get(name) === sql || wordsOf(sqlOf.get(name)) === wordsOf(sql))
  const object = [...expected.values()].find((made) => !isSame(made))
  return object === undefined ? null : { kind: 'not_as_made', object }
}

/** A migration, as far as it makes the schema. */
type Made = { readonly sql: string; readonly sha256: string }

/** By the checksums of the migrations, because a process may open many files. */
const madeObjects = new Map<string, ReadonlyMap<string, SchemaObject>>()

/** What is not plain from the text is made in memory, which takes 10 ms. */
const objectsMadeBy = (migrations: readonly Made[]): ReadonlyMap<string, SchemaObject> =>
  madeObjects.getOrInsertComputed(migrations.map(({ sha256 }) => sha256).join(), () => {
    const plain = objectsCreatedBy([recordOfMigrations, ...migrations.map(({ sql }) => sql)].join(';\n'))
    if (plain !== null) return new Map(plain.map((object) => [object.name, object]))
    using made = new Connection(':memory:')
    made.run('PRAGMA foreign_keys = OFF') // as when they are applied
    made.run(recordOfMigrations)
    for (const { sql } of migrations) made.run(sql)
    return new Map(objectsOf(made).map((object) => [object.name, object]))
  })

const plainCreation = /^(CREATE (?:UNIQUE )?(TABLE|INDEX)) (?:IF NOT EXISTS )?((\w+)\s+(?:\(|ON\b)[^]*)$/

/** What a text of nothing but tables and indexes makes: SQLite keeps the words of each statement. Null for any other text. */
const objectsCreatedBy = (text: string): readonly SchemaObject[] | null => {
  const withoutComments = text.replaceAll(/^--.*\n/gm, '')
  const found = withoutComments
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map((statement) => {
      const [, creates, type, rest, name] = plainCreation.exec(statement) ?? []
      return creates === undefined || type === undefined || rest === undefined || name === undefined
        ? null
        : { type: type.toLowerCase(), name, sql: `${creates} ${rest}` }
    })
  const objects = found.filter((object) => object !== null)
  return objects.length === found.length ? objects : null
}

export type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string | null }

/** Objects that SQLite makes: statistics, row numbers, and the indexes of keys, which are compared with their tables. */
const isInternal = ({ type, name }: SchemaObject): boolean =>
  (type === 'table' && /^sqlite_(?:stat[14]|sequence)$/.test(name)) ||
  (type === 'index' && name.startsWith('sqlite_autoindex_'))

const objectsOf = (connection: Connection): readonly SchemaObject[] =>
  connection.rows<SchemaObject>('SELECT type, name, sql FROM sqlite_schema').filter((object) => !isInternal(object))

const word =
  /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\d[\w.]*|[^\s]/g

/** Texts stay as they are; names lose their quotes. ASC is what an index has anyway. */
const wordsOf = (sql: string | null | undefined): string =>
  (sql?.match(word) ?? [])
    .filter((found) => !/^(?:--|\/\*)/.test(found) && !/^asc$/i.test(found))
    .map((found) => (found.startsWith("'") ? found : found.replace(/^["`[]([^]*)["`\]]$/, '$1').toLowerCase()))
    .join(' ')
