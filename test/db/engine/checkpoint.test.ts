import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { CheckpointReport } from '../../../db/sqlite/checkpoint-worker.ts'
import { startThread } from '../../../db/sqlite/thread.ts'
import { eventually } from '../../support/crash.ts'
import { faultsIn, openTiny, temporaryFolder, type TinyStore } from './support/tiny-store.ts'

const write = async (store: TinyStore, rounds: number, prefix = '') => {
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.transaction((notes) => notes.add(`${prefix}${round}-${index}`, 'x'.repeat(500))),
      ),
    )
  }
}

type Progress = { readonly written: number; readonly copied: number }

/** How many pages the WAL has, and how many of them are checkpointed, as any process may ask. */
const progressOf = (file: string): Progress => {
  using other = new Database(file)
  const found = other.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()
  return { written: found?.log ?? 0, copied: found?.checkpointed ?? 0 }
}

/** Waits for the end of a checkpoint: the file grows earlier, but the WAL starts over only when all is counted as copied. */
const whenCopied = async (file: string): Promise<Progress> =>
  await eventually(
    () => progressOf(file),
    ({ written, copied }) => copied === written,
  )

/** A reader that keeps later pages from being copied, until its COMMIT. */
const readingElsewhere = (file: string): Database => {
  const other = new Database(file)
  other.run('BEGIN; SELECT * FROM notes')
  other.query('SELECT * FROM notes').all()
  return other
}

/** How often the WAL has started over: the number in its header goes up each time. */
const lifeOf = (file: string): number => readFileSync(`${file}-wal`).readUInt32BE(12)

test('under constant writing the WAL starts over instead of growing', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 100 })
  await write(store, 1, 'first-')
  const first = lifeOf(folder.file)

  let rounds = 0
  for (; lifeOf(folder.file) < first + 3 && rounds < 5_000; rounds += 1) await write(store, 1, `${rounds}-`)

  expect(lifeOf(folder.file)).toBeGreaterThanOrEqual(first + 3)
  expect(await store.queries.count()).toBe((rounds + 1) * 20)
  expect(await faultsIn(folder.file)).toEqual([])
  await store.close()
})

test('a reader in another process only delays the checkpoint: when it ends, the WAL is truncated', async () => {
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
  expect(await faultsIn(folder.file)).toEqual([])
  await store.close()
})

test('pages that a reader kept from being copied are copied when it ends, even if nothing more is written', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 100 })
  using other = readingElsewhere(folder.file)
  for (let round = 0; store.statistics().walBytes < 180 * 4_120; round += 1) await write(store, 1, `${round}-`)
  const before = progressOf(folder.file)
  expect(before.copied).toBeLessThan(before.written)
  other.run('COMMIT')

  const after = await whenCopied(folder.file)
  expect(after.copied).toBe(after.written)
  let added = 0
  const walBytes = await eventually(
    async () => {
      await store.transaction((notes) => notes.add(`starts the WAL over, or the next one does ${(added += 1)}`))
      return store.statistics().walBytes
    },
    (bytes) => bytes <= 100 * 4_120,
  )
  expect(walBytes).toBeLessThanOrEqual(100 * 4_120)
  await store.close()
})

test('what was removed is in neither file some seconds later, also where a command removed it or a reader delayed it', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const operator = await openTiny(folder.file, { role: 'operator' })
  const isLeft = (word: string) => [folder.file, `${folder.file}-wal`].some((path) => readFileSync(path).includes(word))
  const gone = async (word: string, each: () => Promise<void> = async () => undefined) => {
    await store.transaction((notes) => notes.add(word, `${word}-body`))
    await store.transaction((notes) => notes.add(`after-${word}`))
    expect(isLeft(`${word}-body`)).toBe(true)
    return async (remover: TinyStore) => {
      await remover.transaction((notes) => notes.remove(word))
      const left = await eventually(
        async () => {
          await each()
          return isLeft(`${word}-body`)
        },
        (found) => !found,
      )
      expect(left).toBe(false)
    }
  }
  await (
    await gone('idle')
  )(store)
  let written = 0
  const removeBesideWrites = await gone(
    'busy',
    async () => await store.transaction((notes) => notes.add(`${(written += 1)}`)),
  )
  await removeBesideWrites(operator)
  const removeBesideReader = await gone('read')
  const other = readingElsewhere(folder.file)
  setTimeout(() => other.close(), 1_000)
  await removeBesideReader(store)
  await operator.close()
  await store.close()
}, 40_000)

test('pages that a command wrote beside an idle server are copied too', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file, { checkpointAfterPages: 50 })
  const operator = await openTiny(folder.file, { role: 'operator' })
  await write(operator, 10)
  await eventually(
    () => readFileSync(folder.file).includes('x'.repeat(500)),
    (isCopied) => isCopied,
  )

  expect(readFileSync(folder.file).includes('x'.repeat(500))).toBe(true)
  await operator.close()
  await store.close()
})

test('the worker reports why it failed, and closes its connection', async () => {
  using folder = temporaryFolder()
  const thread = startThread('checkpoint-worker.ts')
  const failed = Promise.withResolvers<CheckpointReport>()
  const closed = Promise.withResolvers<void>()
  // It tries again every moment, and says each time that it has failed, until it is told to end.
  thread.addEventListener('message', ({ data }: MessageEvent<CheckpointReport>) =>
    data === null ? closed.resolve() : failed.resolve(data),
  )
  thread.postMessage({ file: `${folder.file}.missing`, afterPages: 10 }, [])
  expect(await failed.promise).toMatchObject({ code: 'SQLITE_CANTOPEN' })
  thread.postMessage(null, [])
  await closed.promise
  thread.terminate()
})
