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

test('rows equal those of drizzle: whole tables, groups, single columns, booleans and nulls', async () => {
  const db = library()
  const everything = () =>
    db
      .select({ title: books.title, shelf: shelves, book: getTableColumns(books), only: { isOpen: shelves.isOpen } })
      .from(books)
      .innerJoin(shelves, eq(shelves.id, books.shelfId))
      .where(gt(books.id, after))
      .orderBy(asc(books.id))

  const rows = await reader(db, everything()).all({ after: 1 })

  expect(rows).toEqual(await everything().prepare().execute({ after: 1 }))
  expect(rows[0]).toEqual({
    title: null,
    shelf: { id: 'b', isOpen: false },
    book: { id: 2, shelfId: 'b', title: null },
    only: { isOpen: false },
  })
})

test('a select from one table needs no list of columns', async () => {
  const db = library()
  const all = () => db.select().from(books).where(gt(books.id, after))

  expect(reader(db, all()).all({ after: 0 })).toEqual(await all().prepare().execute({ after: 0 }))
})

test('a read asks for all rows, the first one, or whether there is any, and answers without a promise', () => {
  const db = library()
  const read = reader(db, db.select().from(books).where(gt(books.id, after)).orderBy(asc(books.id)))

  expect(read.first({ after: 1 })).toEqual({ id: 2, shelfId: 'b', title: null })
  expect(read.has({ after: 1 })).toBe(true)
  expect([read.all({ after: 9 }), read.first({ after: 9 }), read.has({ after: 9 })]).toEqual([[], null, false])
})

test('a missing value throws an error', () => {
  const db = library()
  const read = reader(db, db.select().from(books).where(gt(books.id, after)))

  for (const ask of [read.all, read.first, read.has]) expect(() => ask({})).toThrow('after')
})

test('a write says whether a row changed, maps values as their columns do, and refuses a missing one', () => {
  const db = library()
  const add = writer(db, db.insert(shelves).values({ id: sql.placeholder('id'), isOpen: sql.placeholder('isOpen') }))
  const rename = writer(db, db.update(books).set({ title: after }).where(gt(books.id, 1)))
  const remove = writer(db, db.delete(books).where(gt(books.id, after)))

  expect(add.hasChanged({ id: 'd', isOpen: false })).toBe(true)
  expect(db.select().from(shelves).where(eq(shelves.id, 'd')).all()).toEqual([{ id: 'd', isOpen: false }])
  expect([rename.hasChanged({ after: null }), remove.hasChanged({ after: 9 })]).toEqual([true, false])
  expect(() => add.run({ id: 'e' })).toThrow('isOpen')
})

test('a write tells the logger of its connection first, which may refuse it', () => {
  const { $client } = library()
  const db = Object.assign(drizzle($client, { logger: { logQuery: refuse } }), { before: refuse })

  expect(() => writer(db, db.delete(books)).run({})).toThrow('not now')
  expect($client.query('SELECT count(*) AS left FROM books').get()).toEqual({ left: 3 })
})
