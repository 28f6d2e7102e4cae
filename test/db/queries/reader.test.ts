import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { asc, eq, getTableColumns, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { reader, writer } from '../../../db/queries/reader.ts'

const shelves = sqliteTable('shelves', { id: text().primaryKey(), isOpen: integer('is_open', { mode: 'boolean' }) })
const books = sqliteTable('books', {
  id: integer().primaryKey(),
  shelfId: text('shelf_id').notNull(),
  title: text(),
})

const library = () => {
  const file = new Database(':memory:')
  file.run('CREATE TABLE shelves (id TEXT PRIMARY KEY, is_open INTEGER)')
  file.run('CREATE TABLE books (id INTEGER PRIMARY KEY, shelf_id TEXT NOT NULL, title TEXT)')
  file.run("INSERT INTO shelves VALUES ('a', 1), ('b', 0), ('c', NULL)")
  file.run("INSERT INTO books VALUES (1, 'a', 'One'), (2, 'b', NULL), (3, 'c', 'Three')")
  return drizzle(file)
}

const refuse = () => {
  throw new Error('not now')
}

const after = sql`+${sql.placeholder('after')}`

test('rows are what drizzle makes of them: whole tables, groups, single columns, booleans and nulls', async () => {
  const db = library()
  const everything = () =>
    db
      .select({ title: books.title, shelf: shelves, book: getTableColumns(books), only: { isOpen: shelves.isOpen } })
      .from(books)
      .innerJoin(shelves, eq(shelves.id, books.shelfId))
      .where(gt(books.id, after))
      .orderBy(asc(books.id))

  const rows = reader(everything())({ after: 1 })

  expect(rows).toEqual(await everything().prepare().execute({ after: 1 }))
  expect(rows[0]).toEqual({
    title: null,
    shelf: { id: 'b', isOpen: false },
    book: { id: 2, shelfId: 'b', title: null },
    only: { isOpen: false },
  })
})

test('the columns of one table may be left unsaid', async () => {
  const db = library()
  const all = () => db.select().from(books).where(gt(books.id, after))

  expect(reader(all())({ after: 0 })).toEqual(await all().prepare().execute({ after: 0 }))
})

test('nothing found is an empty list, and a value that is missing is a mistake', () => {
  const read = reader(library().select().from(books).where(gt(books.id, after)))

  expect(read({ after: 9 })).toEqual([])
  expect(() => read({})).toThrow('after')
})

test('a write gives the number of rows that it changed, maps values as their columns do, and refuses a missing one', () => {
  const db = library()
  const add = writer(db.insert(shelves).values({ id: sql.placeholder('id'), isOpen: sql.placeholder('isOpen') }))
  const rename = writer(db.update(books).set({ title: after }).where(gt(books.id, 1)))

  expect(add({ id: 'd', isOpen: false })).toBe(1)
  expect(db.select().from(shelves).where(eq(shelves.id, 'd')).all()).toEqual([{ id: 'd', isOpen: false }])
  expect(rename({ after: null })).toBe(2)
  expect(() => add({ id: 'e' })).toThrow('isOpen')
})

test('a write tells the logger of its connection first, which may refuse it', () => {
  const { $client } = library()
  const db = drizzle($client, { logger: { logQuery: refuse } })

  expect(() => writer(db.delete(books))({})).toThrow('not now')
  expect($client.query('SELECT count(*) AS left FROM books').get()).toEqual({ left: 3 })
})
