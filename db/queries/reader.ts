/**
 * Compiles prepared statements. drizzle writes the SQL and the types; its own `execute` inspects every column of every
 * row again and goes through three promises, which took 3 of the 7 µs of a bearer check. Here the code that binds the
 * values and builds the rows is made once per statement, and it answers synchronously. The types say `Awaitable`, because
 * another engine answers with a promise.
 */
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { KeyTaken } from '../../src/domain/time-key.ts'
import { Column, getTableColumns, getTableName, is, NoopLogger, Param, Placeholder, sql, Table } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { lazily } from './connection.ts'

export type Given = Readonly<Record<string, unknown>>

/** The parts of a prepared drizzle statement on bun:sqlite that are used. drizzle hides them from its types. */
type Prepared = {
  readonly query: { readonly sql: string; readonly params: readonly unknown[] }
  readonly logger: { logQuery(sql: string, params: unknown[]): void }
  readonly stmt: Statement
}
type Statement = {
  /** Whether it is one of PostgreSQL: `postgres/dialect.ts` has what it can do instead of `values` and `run`. */
  readonly isAsynchronous?: boolean
  /** Of PostgreSQL, as are the others: this statement for each of many rows, with a list of values for each of these columns. */
  readingEach?(columns: readonly Column[]): Statement
  insertingEach?(columns: readonly Column[]): Statement
  /** This select, which locks the rows of a table, and asks for a row by the key in a column. */
  reading?(locks: string | null, byKey: Column | null): Statement
  /** This insert of a row with values for these columns. */
  inserting?(columns: readonly Column[]): unknown
  /** This update of the row with this key, and then that insert. */
  changing?(insert: Statement, key: Column, columns: readonly Column[]): unknown
}
type Select<Row> = {
  readonly _: { readonly selectedFields: object }
  prepare(): { all(): Row[] }
}
type Write = { prepare(): { run(): unknown } }

/** What another engine must know of a select: the table whose rows it locks, the column if it asks for one row by its key. */
type ReaderOptions = {
  readonly locks?: SQLiteTable
  readonly byKey?: Column
  /** The columns of the values, if PostgreSQL is given lists of them (`lists.ts`). */
  readonly each?: Columns
}

export type Reader<Row> = {
  readonly all: (given: Given) => Awaitable<Row[]>
  /** The first row, or null. */
  readonly first: (given: Given) => Awaitable<Row | null>
  readonly has: (given: Given) => Awaitable<boolean>
}

type Writer = {
  readonly run: (given: Given) => Awaitable<void>
  /** Whether any row changed, for a conditional write. */
  readonly hasChanged: (given: Given) => Awaitable<boolean>
}

type Columns = Readonly<Record<string, Column>>

type StepWriter = { readonly run: (given: Given) => Awaitable<boolean> }

/** Compiled source, with the objects that it names. */
type Source = { readonly names: string[]; readonly values: unknown[] }

/**
 * Compiles a select of columns, plain or in groups; of an outer join only plain ones. Rows are what drizzle's `execute`
 * gives. Rows without groups are made by bun:sqlite itself, by the names of their columns, which takes 1.8 µs for the row of a
 * token and not 2.1 (measured). In a transaction of an engine that runs several at once, the rows read of the table `locks` stay
 * locked until its end. An engine on another machine reads the rows of several `byKey` together.
 */
export const reader = <Row>(select: Select<Row>, options: ReaderOptions = {}): Reader<Row> => {
  const fields = select._.selectedFields
  const columns = Object.entries(fields).filter((entry): entry is [string, Column] => is(entry[1], Column))
  const isFlat = columns.length === Object.keys(fields).length
  if (isFlat) nameColumns(select, columns)
  const prepared = readingParts(partsOf(select.prepare()), options)
  const source: Source = { names: [], values: [] }
  const given = argumentsSource(prepared, source)
  if (isFlat && !isAsynchronous(prepared)) {
    const map = mappingSource(columns, source)
    const named = {
      all: `const rows = statement.all(${given}); ${map === '' ? '' : `for (const row of rows) { ${map} }`} return rows`,
      first: `const row = statement.get(${given}); if (row === null) return null; ${map}; return row`,
      has: `return statement.get(${given}) !== null`,
    }
    return compile(prepared, source, named) as Reader<Row> // as below
  }
  const row = groupSource(fields, { column: 0 }, source)
  const rows = isAsynchronous(prepared)
    ? `const { rows } = await statement.send(${given});`
    : `const rows = statement.values(${given});`
  const code = {
    all: `${rows} return rows.map((row) => (${row}))`,
    first: `${rows} if (rows.length === 0) return null; const row = rows[0]; return ${row}`,
    has: `${rows} return rows.length > 0`,
  }
  return compile(prepared, source, code) as Reader<Row> // typed by the very selection that it is made from
}

/**
 * Compiles an insert, an update or a delete without RETURNING. Only the answer to `hasChanged` is waited for. With `each`, PostgreSQL
 * is given lists of values for these columns.
 */
export const writer = (write: Write, each?: Columns): Writer => {
  const single = partsOf(write.prepare())
  const prepared = withStatement(single, each && single.stmt.insertingEach?.(columnsOf(single, each)))
  const source: Source = { names: [], values: [] }
  const given = argumentsSource(prepared, source)
  const code = isAsynchronous(prepared)
    ? {
        run: `statement.push(${given})`,
        hasChanged: `return (await statement.send(${given})).changes > 0`,
      }
    : {
        run: `statement.run(${given})`,
        hasChanged: `return statement.run(${given}).changes > 0`,
      }
  return compile(prepared, source, code) as Writer // by the types of the engines
}

/**
 * Compiles an insert of a row with these columns, whose key no other row must have. @throws KeyTaken, from the transaction at the
 * latest
 */
export const freshWriter = (insert: Write, columns: Columns) => {
  const prepared = partsOf(insert.prepare())
  const source: Source = { names: [], values: [] }
  const given = argumentsSource(prepared, source)
  const inserting = prepared.stmt.inserting?.(columnsOf(prepared, columns))
  const run =
    inserting === undefined
      ? `if (statement.run(${given}).changes === 0) taken()`
      : `${constantSource(source, inserting)}(${given})`
  return compile(prepared, source, { run }) as Pick<Writer, 'run'> // as above
}

/**
 * Compiles an update of the row with this key, and an insert of one row under a fresh key that is made if the update has changed one.
 * Tells whether it has. The values have the types of the columns of their names. On PostgreSQL they are one statement, which needs no
 * locks before it: its conditions decide. @throws KeyTaken
 */
export const stepWriter = (update: Write, insert: Write, key: Column, columns: Columns) => {
  const [step, row] = [partsOf(update.prepare()), partsOf(insert.prepare())]
  const source: Source = { names: [], values: [] }
  const [stepGiven, rowGiven] = [argumentsSource(step, source), argumentsSource(row, source)]
  const of = [...columnsOf(step, columns), ...columnsOf(row, columns)]
  const changing = step.stmt.changing?.(row.stmt, key, of)
  const run =
    changing === undefined
      ? `if (statement.run(${stepGiven}).changes === 0) return false;
         if (${constantSource(source, row.stmt)}.run(${rowGiven}).changes === 0) taken(); return true`
      : `return ${constantSource(source, changing)}(${stepGiven}, ${rowGiven})`
  return compile(step, source, { run }) as StepWriter // as above
}

/** The same, compiled on first use, so that opening a database costs nothing for statements that are never run. */
export const lazyReader = <Row>(select: () => Select<Row>, options?: ReaderOptions) =>
  lazily(() => reader(select(), options))
export const lazyWriter = (write: () => Write, each?: Columns) => lazily(() => writer(write(), each))

/** The one place that looks behind drizzle's types: its prepared statement keeps these three as plain properties. */
const partsOf = (prepared: object): Prepared => prepared as Prepared
/** And its select writes the fields of this object. */
const configOf = (select: object) => Reflect.get(Reflect.get(select, '_'), 'config') as { fields: object }

type NamedColumns = readonly (readonly [name: string, column: Column])[]

/** Names each column as its field: columns of two tables may have the same name. */
const nameColumns = (select: object, columns: NamedColumns): void => {
  configOf(select).fields = Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))
}

const readingParts = (prepared: Prepared, { locks, byKey, each }: ReaderOptions): Prepared => {
  const { stmt } = prepared
  const eachStmt = each && stmt.readingEach?.(columnsOf(prepared, each))
  return withStatement(
    prepared,
    eachStmt ?? stmt.reading?.(locks === undefined ? null : getTableName(locks), byKey ?? null),
  )
}

/** drizzle's properties are not its own, so they are named. */
const withStatement = ({ query, logger, stmt }: Prepared, other: Statement | undefined): Prepared => ({
  query,
  logger,
  stmt: other ?? stmt,
})

const isAsynchronous = ({ stmt }: Prepared): boolean => stmt.isAsynchronous === true

/** One function for each of the codes; `given` has the values of the placeholders. */
const compile = (
  { query, logger, stmt }: Prepared,
  { names, values }: Source,
  codes: Readonly<Record<string, string>>,
): unknown => {
  // drizzle tells its logger before each statement; the writing connection uses that to refuse one outside of a transaction.
  const before = is(logger, NoopLogger) ? '' : 'logger.logQuery(sql, none);'
  const functions = Object.entries(codes).map(
    ([name, code]) => `${name}: ${code.includes('await ') ? 'async ' : ''}(given) => {${before}${code}}`,
  )
  const make = new Function(
    'statement',
    'logger',
    'sql',
    'none',
    'missing',
    'taken',
    ...names,
    `return { ${functions.join(', ')} }`,
  )
  return make(stmt, logger, query.sql, [], missing, taken, ...values)
}

const taken = (): never => {
  throw new KeyTaken()
}

const missing = (name: string): never => {
  throw new TypeError(`No value for ${name} was given.`)
}

/** One expression per parameter of the statement, in its order. */
const argumentsSource = ({ query }: Prepared, source: Source): string =>
  query.params
    .map((param) => {
      if (is(param, Placeholder)) return valueSource(param.name)
      if (!is(param, Param)) return constantSource(source, param)
      const { value, encoder } = param
      if (!is(value, Placeholder)) return constantSource(source, encoder.mapToDriverValue(value))
      if (is(encoder, Column) && isPlain(encoder, 'mapToDriverValue')) return valueSource(value.name)
      return `${constantSource(source, encoder)}.mapToDriverValue(${valueSource(value.name)})`
    })
    .join(', ')

/** The columns that the parameters of the statement are named after. */
const columnsOf = ({ query }: Prepared, columns: Columns): readonly Column[] =>
  query.params.map((param) => {
    const value = is(param, Param) ? param.value : param
    const column = is(value, Placeholder) ? columns[value.name] : undefined
    if (column === undefined) throw new TypeError(`A value of a statement has no column: ${query.sql}`)
    return column
  })

const valueSource = (name: string): string => {
  const text = JSON.stringify(name)
  return `(given[${text}] === undefined ? missing(${text}) : given[${text}])`
}

const constantSource = ({ names, values }: Source, value: unknown): string => {
  const name = `constant${names.length}`
  names.push(name)
  values.push(value)
  return name
}

/** Columns are in a row in the order in which the selection names them. */
const groupSource = (selection: object, next: { column: number }, source: Source): string => {
  const parts = Object.entries(selection).map(([name, part]: [string, unknown]) => {
    const taken = is(part, Column)
      ? columnSource(part, `row[${next.column++}]`, source)
      : groupSource(is(part, Table) ? getTableColumns(part) : Object(part), next, source)
    return `${JSON.stringify(name)}: ${taken}`
  })
  return `{ ${parts.join(', ')} }`
}

const columnSource = (column: Column, value: string, source: Source): string =>
  isPlain(column, 'mapFromDriverValue')
    ? value
    : `(${value} === null ? null : ${constantSource(source, column)}.mapFromDriverValue(${value}))`

/** Maps the fields that are not plain, within a row that bun:sqlite has made. */
const mappingSource = (columns: NamedColumns, source: Source): string =>
  columns
    .filter(([, column]) => !isPlain(column, 'mapFromDriverValue'))
    .map(([name, column]) => {
      const field = `row[${JSON.stringify(name)}]`
      return `${field} = ${columnSource(column, field, source)}`
    })
    .join('; ')

/** Whether the column keeps values as they are: drizzle's default, and a custom column without a mapping of its own. */
const isPlain = (column: Column, mapping: 'mapFromDriverValue' | 'mapToDriverValue'): boolean => {
  if (column[mapping] === Column.prototype[mapping]) return true
  const own: unknown = Reflect.get(column, mapping === 'mapFromDriverValue' ? 'mapFrom' : 'mapTo')
  return column.columnType === 'SQLiteCustomColumn' && own === undefined
}
