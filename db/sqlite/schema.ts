/*
 * Compares the schema of a file with the one that the migrations make, and refuses anything that others have added. What counts
 * is the structure that SQLite reads, not how the SQL is written, because a later SQLite may write the same schema differently.
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
 * comes from the program alone. If the SQL is the same, no closer look is needed.
 */
export const differenceFrom = (connection: Connection, migrations: readonly Made[]): Difference | null => {
  const expected = objectsMadeBy(migrations)
  const found = objectsOf(connection)
  const foreign = found.find(({ name }) => !expected.has(name))
  if (foreign !== undefined) return { kind: 'foreign', object: foreign }
  const isSame = ({ name, sql }: SchemaObject): boolean => expected.get(name)?.sql === sql
  if (found.length === expected.size && found.every(isSame)) return null
  using made = schemaMadeBy(migrations)
  const [structures, asExpected] = [structuresOf(connection), structuresOf(made)]
  const object = [...expected.values()].find(({ name }) => structures.get(name) !== asExpected.get(name))
  return object === undefined ? null : { kind: 'not_as_made', object }
}

/** A migration, as far as it makes the schema. */
type Made = { readonly sql: string; readonly sha256: string }

const schemaMadeBy = (migrations: readonly Made[]): Connection => {
  const made = new Connection(':memory:')
  made.run('PRAGMA foreign_keys = OFF') // as when they are applied
  made.run(recordOfMigrations)
  for (const { sql } of migrations) made.run(sql)
  return made
}

/** By the checksums of the migrations, because making a schema takes 10 ms and a process may open many files. */
const madeObjects = new Map<string, ReadonlyMap<string, SchemaObject>>()

const objectsMadeBy = (migrations: readonly Made[]): ReadonlyMap<string, SchemaObject> =>
  madeObjects.getOrInsertComputed(migrations.map(({ sha256 }) => sha256).join(), () => {
    using made = schemaMadeBy(migrations)
    return new Map(objectsOf(made).map((object) => [object.name, object]))
  })

export type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string | null }

/** Objects that SQLite makes: statistics, row numbers, and the indexes of keys, which are compared with their tables. */
const isInternal = ({ type, name }: SchemaObject): boolean =>
  (type === 'table' && /^sqlite_(?:stat[14]|sequence)$/.test(name)) ||
  (type === 'index' && name.startsWith('sqlite_autoindex_'))

const objectsOf = (connection: Connection): readonly SchemaObject[] =>
  connection.rows<SchemaObject>('SELECT type, name, sql FROM sqlite_schema').filter((object) => !isInternal(object))

/**
 * The structure of each table and index, by its name, as SQLite's pragmas report it. The pragmas leave out CHECK constraints and
 * a few clauses, which are taken from the SQL, word by word.
 */
const structuresOf = (connection: Connection): ReadonlyMap<string, string> => {
  const objects = objectsOf(connection)
  const indexSql = new Map(objects.filter(({ type }) => type === 'index').map(({ name, sql }) => [name, sql ?? '']))
  const columns = Map.groupBy(connection.rows<Part>(columnParts), ({ of }) => of)
  const indexes = Map.groupBy(connection.rows<IndexPart>(indexParts), ({ index }) => index)
  const references = Map.groupBy(connection.rows<Reference>(referenceParts), ({ of }) => of)
  const options = new Map(connection.rows<Options>(tableOptions).map((table) => [table.of, table.options]))
  const ofKeys = Map.groupBy(
    [...indexes].filter(([name]) => !indexSql.has(name)).map(([, parts]) => parts),
    ([first]) => first?.of,
  )
  const structureOfTable = (name: string, sql: string): string =>
    JSON.stringify([
      options.get(name),
      columns.get(name)?.map(textOf),
      ofKeys.get(name)?.map(textOf).toSorted(),
      [...Map.groupBy(references.get(name) ?? [], ({ id }) => id).values()].map(textOf).toSorted(),
      looseTerms(sql).toSorted(),
    ])
  return new Map(
    objects.map(({ type, name, sql }) => [
      name,
      type === 'index' ? textOf(indexes.get(name) ?? []) + rowTerms(sql ?? '') : structureOfTable(name, sql ?? ''),
    ]),
  )
}

/** Parts of a table (`of`). Their other columns are only compared, as text. */
type Part = { readonly of: string }
type IndexPart = Part & { readonly index: string }
type Reference = Part & { readonly id: number }
type Options = Part & { readonly options: string }

const tables = `(SELECT name FROM pragma_table_list WHERE schema = 'main')`
const tableOptions = `SELECT name AS "of", type || wr || strict AS options FROM pragma_table_list WHERE schema = 'main'`
const columnParts = `SELECT t.name AS "of", c.name, upper(c.type) AS type, c."notnull" AS required, c.dflt_value AS byDefault,
  c.pk AS "key", c.hidden FROM ${tables} t JOIN pragma_table_xinfo(t.name, 'main') c`
const indexParts = `SELECT t.name AS "of", i.name AS "index", i."unique", i.origin, c.name AS "column", c."desc" AS descending,
  upper(c.coll) AS collation, c."key" AS isKey
  FROM ${tables} t JOIN pragma_index_list(t.name, 'main') i JOIN pragma_index_xinfo(i.name, 'main') c`
const referenceParts = `SELECT t.name AS "of", f.id, f."from", f."table" AS parent, f."to", f.on_update || ' ' || f.on_delete AS rules
  FROM ${tables} t JOIN pragma_foreign_key_list(t.name, 'main') f`

/** Leaves out names that SQLite generates, and compares a default value by its words. */
const textOf = (part: object): string =>
  JSON.stringify(part, (key, value: unknown) => {
    if (key === 'index' || key === 'id') return undefined
    return key === 'byDefault' && typeof value === 'string' ? termsOf(value) : value
  })

/*
 * Only the SQL of a schema has what the pragmas leave out. It is compared word by word, ignoring spaces, comments, quotes and
 * case, which a later SQLite may write differently.
 */

const term =
  /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\d[\w.]*|[^\s]/g

const termsOf = (sql: string): readonly string[] =>
  (sql.match(term) ?? []).filter((found) => !/^(?:--|\/\*)/.test(found)).map(plain)

const plain = (found: string): string => {
  if (found.startsWith("'")) return found
  const quoted = /^(?:"([^]*)"|`([^]*)`|\[([^]*)\])$/.exec(found)
  return (quoted === null ? found : (quoted[1] ?? quoted[2] ?? quoted[3] ?? '')).toLowerCase()
}

/** The terms from an opening parenthesis to its closing one. */
const enclosed = (terms: readonly string[], start: number): readonly string[] => {
  let depth = 0
  for (let end = start; end < terms.length; end += 1) {
    if (terms[end] === '(') depth += 1
    if (terms[end] === ')' && --depth === 0) return terms.slice(start, end + 1)
  }
  return terms.slice(start)
}

/** The definitions of a table's columns and constraints. */
const definitionsOf = (sql: string): readonly (readonly string[])[] => {
  const terms = termsOf(sql)
  const body = enclosed(terms, terms.indexOf('(')).slice(1, -1)
  const definitions: string[][] = [[]]
  let depth = 0
  for (const found of body) {
    if (found === '(') depth += 1
    if (found === ')') depth -= 1
    if (found === ',' && depth === 0) definitions.push([])
    else definitions.at(-1)?.push(found)
  }
  return definitions
}

const lengths: Readonly<Record<string, number>> = {
  collate: 2,
  autoincrement: 1,
  conflict: 2,
  deferrable: 1,
  initially: 2,
}

/** The parts of a table's SQL that no pragma reports: CHECK and generated expressions, collations, conflict and deferral clauses. */
const looseTerms = (sql: string): readonly string[] =>
  definitionsOf(sql).flatMap((definition) => {
    const [first = ''] = definition
    const found: string[] = []
    for (let at = 0; at < definition.length; at += 1) {
      const word = definition[at] ?? ''
      if (word === 'check' && definition[at + 1] === '(') found.push(enclosed(definition, at + 1).join(' '))
      else if (word === 'as' && definition[at + 1] === '(') {
        found.push(`${first} as ${enclosed(definition, at + 1).join(' ')}`)
      } else if (at > 0 && Object.hasOwn(lengths, word)) {
        found.push(`${first} ${definition.slice(at, at + (lengths[word] ?? 1)).join(' ')}`)
      }
    }
    return found
  })

/** The condition of a partial index, and the expressions among its columns: its SQL from there on. */
const rowTerms = (sql: string): string => {
  const terms = termsOf(sql)
  const start = terms.indexOf('(')
  const columns = enclosed(terms, start)
  const hasExpression = columns.lastIndexOf('(') > 0
  return terms.slice(hasExpression ? start : start + columns.length).join(' ')
}
