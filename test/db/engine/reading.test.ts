import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { ReadingConnection } from '../../../db/sqlite/reader-and-writer.ts'
import { WalSync } from '../../../db/sqlite/commits.ts'
import { startTiny } from './support/start-tiny.ts'
import { openTiny, temporaryFolder, tinyQueries } from './support/tiny-store.ts'

test('a read sees every transaction that was answered before it, also within the same turn', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  for (let index = 0; index < 50; index += 1) {
    const write = store.transaction((notes) => notes.add(`n${index}`))
    // A snapshot is taken in the very turn in which the transaction will be answered.
    const reads = [
      store.queries.count(),
      new Promise((resolve) => setImmediate(resolve)).then(() => store.queries.count()),
    ]
    await write
    expect(await store.queries.find(`n${index}`)).not.toBeNull()
    await Promise.all(reads)
  }
  await store.close()
})

test('a read never sees part of a transaction', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const counts: Promise<number>[] = []

  await store.transaction(async (notes) => {
    await notes.add('one')
    counts.push(store.queries.count())
    await notes.add('two')
    counts.push(store.queries.count())
  })

  expect(await Promise.all(counts)).toEqual([0, 0])
  expect(await store.queries.count()).toBe(2)
  await store.close()
})

test('reads go on while another process holds the write lock', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('n'))
  using other = new Database(folder.file)
  other.run('BEGIN IMMEDIATE')

  const waiting = store.transaction((notes) => notes.add('waits'))
  expect(await store.queries.find('n')).not.toBeNull()
  await Bun.sleep(30)
  expect(await store.queries.count()).toBe(1)
  other.run('COMMIT')
  await waiting

  expect(await store.queries.count()).toBe(2)
  await store.close()
})

test('the next read sees what a command committed in another process', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const operator = await startTiny(folder.file, 'operator')

  for (let index = 0; index < 20; index += 1) {
    expect(await operator.ask({ kind: 'add', id: `o${index}` })).toBe('added')
    expect(await store.queries.find(`o${index}`)).not.toBeNull()
  }
  await operator.kill()
  await store.close()
})

/** A reading connection, and a way for another process to commit in the middle of its turn. */
const readingBeside = async (file: string) => {
  await (await openTiny(file)).close()
  const other = new Database(file)
  const reading = new ReadingConnection(file, tinyQueries)
  const commit = (id: string) => other.run("INSERT INTO notes (id, body) VALUES (?, 'a note')", [id])
  const close = () => {
    reading.close()
    other.close()
  }
  return { reading, commit, close }
}

test('reads of one turn share a snapshot until it is refreshed', async () => {
  using folder = temporaryFolder()
  const { reading, commit, close } = await readingBeside(folder.file)

  const first = await reading.queries.count()
  commit('n')
  reading.refresh()

  expect([first, await reading.queries.count()]).toEqual([0, 1])
  close()
})

test('reads of a long turn take a new snapshot after a millisecond', async () => {
  using folder = temporaryFolder()
  const { reading, commit, close } = await readingBeside(folder.file)

  const first = await reading.queries.count()
  commit('n')
  Bun.sleepSync(3)

  expect([first, await reading.queries.count()]).toEqual([0, 1])
  close()
})

test('reads of the next turn take a new snapshot', async () => {
  using folder = temporaryFolder()
  const { reading, commit, close } = await readingBeside(folder.file)

  const first = await reading.queries.count()
  commit('n')
  await new Promise((resolve) => setImmediate(resolve))

  expect([first, await reading.queries.count()]).toEqual([0, 1])
  close()
})

test('a snapshot that was taken while a transaction ran has ended when that transaction is answered', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const { sync } = WalSync.prototype
  // A disk so fast that everything happens within one turn.
  WalSync.prototype.sync = () => Promise.resolve()
  try {
    await store.transaction(async (notes) => {
      await store.queries.count()
      await notes.add('n')
    })
    expect(await store.queries.count()).toBe(1)
  } finally {
    WalSync.prototype.sync = sync
  }
  await store.close()
})
