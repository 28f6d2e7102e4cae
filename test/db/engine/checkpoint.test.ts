import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import type { CheckpointReport } from '../../../db/sqlite/checkpoint-worker.ts'
import { startThread } from '../../../db/sqlite/thread.ts'
import { eventually } from './support/start-tiny.ts'
import { openTiny, temporaryFolder, type TinyStore } from './support/tiny-store.ts'

const write = async (store: TinyStore, rounds: number, prefix = '') => {
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.transaction((notes) => notes.add(`${prefix}${round}-${index}`, 'x'.repeat(500))),
      ),
    )
  }
}

/** A reader that keeps what comes after it from being copied, until its COMMIT. */
const readingElsewhere = (file: string): Database => {
  const other = new Database(file)
  other.run('BEGIN; SELECT * FROM notes')
  other.query('SELECT * FROM notes').all()
  return other
}

test('beside a busy writer the WAL starts over instead of growing', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 100 })

  await write(store, 400)

  // 8,000 rows of half a kilobyte are more than 4 MB, and more than that in pages written.
  expect(store.statistics().databaseBytes).toBeGreaterThan(3_000_000)
  expect(store.statistics().walBytes).toBeLessThan(3_000_000)
  expect(await store.queries.count()).toBe(8_000)
  expect(await store.check()).toEqual([])
  await store.close()
})

test('a reader in another process only delays it: once it is gone, the WAL is as short as before', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 100 })
  using other = readingElsewhere(folder.file)

  await write(store, 100, 'beside-')
  const grown = store.statistics().walBytes
  other.run('COMMIT')
  const isLong = () => store.statistics().walBytes > 100 * 4_120
  for (let round = 0; isLong() && round < 50; round += 1) await write(store, 10, `after-${round}-`)

  expect(grown).toBeGreaterThan(3_000_000)
  expect(isLong()).toBe(false)
  expect(await store.check()).toEqual([])
  await store.close()
})

test('what a reader kept from being copied is copied once it is gone, also when nobody writes any more', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 100 })
  using other = readingElsewhere(folder.file)
  for (let round = 0; store.statistics().walBytes < 180 * 4_120; round += 1) await write(store, 1, `${round}-`)
  await Bun.sleep(100) // the attempt that the reader keeps from its end
  const before = store.statistics().databaseBytes
  other.run('COMMIT')

  const after = await eventually(
    () => store.statistics().databaseBytes,
    (bytes) => bytes > before,
  )
  expect(after).toBeGreaterThan(before)
  await store.transaction((notes) => notes.add('starts the WAL over'))
  expect(store.statistics().walBytes).toBeLessThanOrEqual(100 * 4_120)
  await store.close()
})

test('what an operator wrote beside an idle server is copied too', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 50 })
  const operator = await openTiny(folder.file, { role: 'operator' })
  const before = store.statistics().databaseBytes

  await write(operator, 10)
  const copied = await eventually(
    () => store.statistics().databaseBytes,
    (bytes) => bytes > before,
  )

  expect(copied).toBeGreaterThan(before)
  await operator.close()
  await store.close()
})

test('the other thread copies, lets go, and says why it could not', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('n'))
  const before = store.statistics().databaseBytes
  const thread = startThread('checkpoint-worker.ts')
  const ask = (order: object) =>
    new Promise<CheckpointReport>((resolve) => {
      thread.addEventListener('message', ({ data }: MessageEvent<CheckpointReport>) => resolve(data), { once: true })
      thread.postMessage(order, [])
    })

  const missing = await ask({ kind: 'copy', file: `${folder.file}.missing` })
  const copied = await ask({ kind: 'copy', file: folder.file })
  const closed = await ask({ kind: 'close' })
  thread.terminate()

  expect(missing).toMatchObject({ kind: 'failed', code: 'SQLITE_CANTOPEN' })
  expect([copied, closed]).toEqual([{ kind: 'copied' }, { kind: 'closed' }])
  expect(store.statistics().databaseBytes).toBeGreaterThanOrEqual(before)
  await store.close()
})
