import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { asc, eq, getTableColumns, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { reader } from '../../../db/queries/reader.ts'

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
