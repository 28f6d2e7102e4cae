import { expect, test } from 'bun:test'
import { PlatformError } from '../../../src/domain/errors.ts'
import { TransactionOverdue } from '../../../db/sqlite/commits.ts'
import { openTiny, temporaryFolder } from './support/tiny-store.ts'

test('transactions that arrive together share one commit', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  await Promise.all(Array.from({ length: 100 }, (_, index) => store.transaction((notes) => notes.add(`n${index}`))))

  expect(store.statistics()).toMatchObject({ transactions: 100, commits: 1 })
  expect(await store.queries.count()).toBe(100)
  await store.close()
})

test('more than a batch of transactions are all answered, in several commits', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      store.transaction(async (notes) => notes.add(`n${index}`).then(() => index)),
    ),
  )

  expect(answers).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
  expect(store.statistics().commits).toBeGreaterThan(1)
  expect(await store.queries.count()).toBe(1_000)
  await store.close()
})

test('a transaction that throws is undone, and the others of its batch are kept', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const [before, failed, after] = await Promise.allSettled([
    store.transaction((notes) => notes.add('before')),
    store.transaction(async (notes) => {
      await notes.add('undone')
      throw new Error('changed its mind')
    }),
    store.transaction((notes) => notes.add('after')),
  ])

  expect([before?.status, failed?.status, after?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(failed).toMatchObject({ reason: { message: 'changed its mind' } })
  expect(await store.queries.ids()).toEqual(['after', 'before'])
  await store.close()
})

test('failing bodies among good ones leave no trace, whatever they wrote, and the good ones are committed once', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('shared'))

  const outcomes = await Promise.allSettled(
    Array.from({ length: 120 }, async (_, index) =>
      store.transaction(async (notes) => {
        await notes.add(`n${index}`)
        if (index % 3 !== 1) return `n${index}`
        await notes.spend('shared', index)
        throw new Error(`no ${index}`)
      }),
    ),
  )

  const told = outcomes.map((found) => (found.status === 'fulfilled' ? found.value : found.reason.message))
  expect(told).toEqual(Array.from({ length: 120 }, (_, index) => (index % 3 === 1 ? `no ${index}` : `n${index}`)))
  expect(await store.queries.count()).toBe(81)
  expect((await store.queries.find('shared'))?.spentAt).toBeNull()
  expect(store.statistics()).toMatchObject({ transactions: 121, commits: 2 })
  await store.close()
})

test('a transaction that saw the write of one that fails afterwards is run again without it', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const [failed, seen] = await Promise.allSettled([
    store.transaction(async (notes) => {
      await notes.add('undone')
      throw new Error('changed its mind')
    }),
    store.transaction((notes) => notes.find('undone')),
  ])

  expect([failed.status, seen]).toEqual(['rejected', { status: 'fulfilled', value: null }])
  await store.close()
})

test('a body that catches the error of a broken constraint is committed without that statement', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const [, caught] = await Promise.all([
    store.transaction((notes) => notes.add('a')),
    store.transaction(async (notes) => {
      await notes.add('b')
      return await notes.add('a').catch(() => 'caught')
    }),
  ])

  expect(caught).toBe('caught')
  expect(await store.queries.ids()).toEqual(['a', 'b'])
  await store.close()
})

test('a lone transaction that throws leaves nothing behind and the next one works', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const failing = store.transaction(async (notes) => {
    await notes.add('undone')
    throw new Error('changed its mind')
  })

  await expect(failing).rejects.toThrow('changed its mind')
  await failing.catch(() => {})
  await store.transaction((notes) => notes.add('kept'))

  expect(await store.queries.ids()).toEqual(['kept'])
  await store.close()
})

test('a broken constraint fails the transaction that broke it, and no other', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const outcomes = await Promise.allSettled([
    store.transaction((notes) => notes.add('a')),
    store.transaction((notes) => notes.add('a')),
    store.transaction((notes) => notes.add('orphan', 'a reply', 'nobody')),
    store.transaction((notes) => notes.add('b', 'a reply', 'a')),
  ])

  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(await store.queries.ids()).toEqual(['a', 'b'])
  expect(store.health()).toEqual({ writable: true, problem: null, reason: null })
  await store.close()
})

test('of 200 transactions that spend the same note at once, one succeeds', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('n'))

  const wins = await Promise.all(Array.from({ length: 200 }, () => store.transaction((notes) => notes.spend('n', 1))))

  expect(wins.filter(Boolean)).toHaveLength(1)
  await store.close()
})

test('a later transaction of a batch sees what an earlier one wrote', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const [, seen] = await Promise.all([
    store.transaction((notes) => notes.add('first')),
    store.transaction((notes) => notes.find('first')),
  ])

  expect(seen).toMatchObject({ id: 'first' })
  await store.close()
})

test('a body that awaits anything but its queries is undone and reported as a mistake, without the others of its batch', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const [before, overdue, after] = await Promise.allSettled([
    store.transaction((notes) => notes.add('before')),
    store.transaction(async (notes) => {
      await notes.add('overdue')
      await Bun.sleep(20)
      await notes.add('much later')
    }),
    store.transaction((notes) => notes.add('after')),
  ])
  await Bun.sleep(40)

  expect([before?.status, after?.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(overdue).toMatchObject({ status: 'rejected', reason: expect.any(TransactionOverdue) })
  expect(await store.queries.ids()).toEqual(['after', 'before'])
  await store.close()
})

test('an overdue body cannot write after it was given up, not even into the transaction of another caller', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const late = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<unknown>()
  await store
    .transaction(async (notes) => {
      await late.promise
      woken.resolve(await notes.add('from the grave').catch((error: unknown) => error))
    })
    .catch(() => {})

  // It resumes while another transaction is open.
  await store.transaction(async (notes) => {
    await notes.add('kept')
    late.resolve()
    await notes.find('kept')
    await notes.find('kept')
    await notes.find('kept')
  })

  expect(await woken.promise).toBeInstanceOf(Error)
  expect(await store.queries.ids()).toEqual(['kept'])
  await store.close()
})

test('queries kept from a transaction refuse to write after it', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const kept = await store.transaction(async (notes) => ({ notes }))

  await expect(kept.notes.add('outside')).rejects.toThrow('outside of its transaction')
  expect(await store.queries.count()).toBe(0)
  await store.close()
})

test('a long body of many queries is not overdue', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  await store.transaction(async (notes) => {
    for (let index = 0; index < 2_000; index += 1) await notes.add(`n${index}`)
  })

  expect(await store.queries.count()).toBe(2_000)
  await store.close()
})

test('plain queries cannot write', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  await expect(store.queries.add('n')).rejects.toMatchObject({ code: 'SQLITE_READONLY' })
  expect(await store.queries.count()).toBe(0)
  expect(store.health().writable).toBe(true)
  await store.close()
})

test('closing finishes the queued transactions and refuses later ones', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)

  const queued = Array.from({ length: 600 }, (_, index) => store.transaction((notes) => notes.add(`n${index}`)))
  const closed = store.close()
  const later = await store.transaction((notes) => notes.add('late')).catch((error: unknown) => error)
  await Promise.all(queued)
  await closed

  expect(later).toBeInstanceOf(PlatformError)
  expect(later).toMatchObject({ code: 'unavailable', facts: { retryAfterSeconds: expect.any(Number) } })
  const again = await openTiny(folder.file)
  expect(await again.queries.count()).toBe(600)
  await again.close()
})
