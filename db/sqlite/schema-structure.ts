import type { Connection } from './connection.ts'
import { looseTerms, rowsOf, termsOf } from './schema-terms.ts'

export type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string | null }

type Column = {
  readonly of: string
  readonly name: string
  readonly type: string
  readonly required: number
  readonly byDefault: string | null
  readonly key: number
  readonly hidden: number
}

type IndexColumn = {
  readonly of: string
  readonly index: string
  readonly unique: number
  readonly origin: string
  readonly column: string | null
  readonly descending: number
  readonly collation: string
  readonly isKey: number
}

type Reference = {
  readonly of: string
  readonly id: number
  readonly from: string
  readonly parent: string
  readonly to: string | null
  readonly rules: string
}

/** Made by SQLite itself: statistics, row numbers, and the indexes behind keys, which are compared with their tables. */
const isInternal = ({ type, name }: SchemaObject): boolean =>
  (type === 'table' && /^sqlite_(?:stat[14]|sequence)$/.test(name)) ||
  (type === 'index' && name.startsWith('sqlite_autoindex_'))

export const objectsOf = (connection: Connection): readonly SchemaObject[] => {
  using objects = connection.prepare<SchemaObject, []>('SELECT type, name, sql FROM sqlite_schema')
  return objects.all().filter((object) => !isInternal(object))
}

/**
 * Each table and index by its name, with all that SQLite goes by, as its pragmas report it, so that it does not matter how
 * the SQL is written. The pragmas leave out CHECK constraints and a few clauses: those come from the SQL, word by word.
 */
export const structuresOf = (connection: Connection): ReadonlyMap<string, string> => {
  const objects = objectsOf(connection)
  const indexSql = new Map(objects.filter(({ type }) => type === 'index').map(({ name, sql }) => [name, sql ?? '']))
  const columns = Map.groupBy(columnsOf(connection), ({ of }) => of)
  const indexes = Map.groupBy(indexColumnsOf(connection), ({ index }) => index)
  const references = Map.groupBy(referencesOf(connection), ({ of }) => of)
  const options = optionsOf(connection)
  const behindKeys = Map.groupBy(
    [...indexes].filter(([name]) => !indexSql.has(name)).map(([, parts]) => parts),
    ([first]) => first?.of,
  )
  const structureOfTable = (name: string, sql: string): string =>
    JSON.stringify([
      options.get(name),
      columns.get(name)?.map(textOf),
      behindKeys.get(name)?.map(textOf).toSorted(),
      [...Map.groupBy(references.get(name) ?? [], ({ id }) => id).values()].map(textOf).toSorted(),
      looseTerms(sql).toSorted(),
    ])
  return new Map(
    objects.map(({ type, name, sql }) => [
      name,
      type === 'index' ? textOf(indexes.get(name) ?? []) + rowsOf(sql ?? '') : structureOfTable(name, sql ?? ''),
    ]),
  )
}

/** Without the names that SQLite gives by itself, and a default without regard to how it is written. */
const textOf = (part: object): string =>
  JSON.stringify(part, (key, value: unknown) => {
    if (key === 'index' || key === 'id') return undefined
    return key === 'byDefault' && typeof value === 'string' ? termsOf(value) : value
  })

const tables = `(SELECT name FROM pragma_table_list WHERE schema = 'main')`

const optionsOf = (connection: Connection): ReadonlyMap<string, string> => {
  using statement = connection.prepare<{ name: string; options: string }, []>(
    `SELECT name, type || wr || strict AS options FROM pragma_table_list WHERE schema = 'main'`,
  )
  return new Map(statement.all().map(({ name, options }) => [name, options]))
}

const columnsOf = (connection: Connection): readonly Column[] => {
  using statement = connection.prepare<Column, []>(
    `SELECT t.name AS "of", c.name, upper(c.type) AS type, c."notnull" AS required, c.dflt_value AS byDefault,
       c.pk AS "key", c.hidden FROM ${tables} t JOIN pragma_table_xinfo(t.name, 'main') c`,
  )
  return statement.all()
}

const indexColumnsOf = (connection: Connection): readonly IndexColumn[] => {
  using statement = connection.prepare<IndexColumn, []>(
    `SELECT t.name AS "of", i.name AS "index", i."unique", i.origin, c.name AS "column", c."desc" AS descending,
       upper(c.coll) AS collation, c."key" AS isKey
     FROM ${tables} t JOIN pragma_index_list(t.name, 'main') i JOIN pragma_index_xinfo(i.name, 'main') c`,
  )
  return statement.all()
}

const referencesOf = (connection: Connection): readonly Reference[] => {
  using statement = connection.prepare<Reference, []>(
    `SELECT t.name AS "of", f.id, f."from", f."table" AS parent, f."to", f.on_update || ' ' || f.on_delete AS rules
     FROM ${tables} t JOIN pragma_foreign_key_list(t.name, 'main') f`,
  )
  return statement.all()
}
