import { expect } from 'bun:test'
import type { Database } from '../../../db/database.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { type Fate, openStore, startProxy } from './support.ts'

const { test } = needs('postgres')

const ticket = 'a'.repeat(22)
const spend = async (database: Database, key = ticket, kind: 'serial' | 'guarded' = 'serial') => {
  let runs = 0
  const isFirst = await database.transaction(
    async (q) => {
      runs += 1
      return await q.formTickets.spend(key, 1)
    },
    { kind },
  )
  return { isFirst, runs }
}
const outcomeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

/** A store behind a proxy with these fates for its first commits, closed after the work. */
const behindProxy = async <T>(name: string, fates: Fate[], work: (store: Database, stop: () => void) => Promise<T>) => {
  const proxy = await startProxy(name, fates)
  const store = await openStore(proxy.url)
  try {
    return await work(store, proxy.stop)
  } finally {
    await store.close()
    proxy.stop()
  }
}

test('what a body throws undoes what it wrote, and the connection goes on', async () => {
  const store = await openStore('throws')
  const failing = store.transaction(async (q) => {
    await q.formTickets.spend(ticket, 1)
    throw new Error('changed its mind')
  })
  expect(await outcomeOf(failing)).toBe('changed its mind')
  expect(await spend(store)).toEqual({ isFirst: true, runs: 1 })
  expect(await spend(store)).toEqual({ isFirst: false, runs: 1 })
  await store.close()
})

test('a failed statement whose error the body has caught is no success', async () => {
  const store = await openStore('swallows')
  const swallowing = store.transaction(async (q) => {
    await q.formTickets.spend(ticket, 1)
    try {
      await q.formTickets.spend(ticket.repeat(2), Number.NaN)
    } catch {
      // As if it had worked.
    }
    return 'done'
  })
  expect(await outcomeOf(swallowing)).not.toBe('done')
  expect(await spend(store)).toEqual({ isFirst: true, runs: 1 })
  await store.close()
})

test('a query that is used after its transaction is refused', async () => {
  const store = await openStore('late')
  const q = await store.transaction(async (queries) => queries)
  await expect(async () => await q.users.byId('x')).toThrow('outside of its transaction')
  await store.close()
})

test('a commit whose answer is lost has happened once, and its body is not run again', async () => {
  await behindProxy('answer-lost', ['answer lost'], async (store) => {
    expect(await spend(store)).toEqual({ isFirst: true, runs: 1 })
    expect(await spend(store)).toEqual({ isFirst: false, runs: 1 })
  })
})

test('a commit that never arrived is tried again', async () => {
  await behindProxy('request-lost', ['request lost'], async (store) => {
    expect(await spend(store)).toEqual({ isFirst: true, runs: 2 })
    expect(await spend(store)).toEqual({ isFirst: false, runs: 1 })
  })
})

test('a commit that nobody can ask about is unavailable, neither done nor tried again', async () => {
  const fates: Fate[] = ['answer lost']
  await behindProxy('undecided', fates, async (store, stop) => {
    const spending = outcomeOf(spend(store))
    while (fates.length > 0) await Bun.sleep(5)
    stop()
    expect(await spending).toBe('unavailable')
  })
  const store = await openStore('undecided')
  expect((await spend(store)).isFirst).toBe(false)
  await store.close()
}, 20_000)

test('connections that PostgreSQL has ended are replaced, for reads and for transactions', async () => {
  const url = await postgresDatabase('ended')
  const store = await openStore('ended')
  await spend(store, 'b'.repeat(22))
  await store.queries.users.byId('x')
  await askPostgres(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    [],
  )
  expect(await store.queries.users.byId('x')).toBeNull()
  expect((await spend(store)).isFirst).toBe(true)
  await store.close()
})

/** Counts up, as no conditional write would. */
const countUp = async (store: Database) =>
  await store.transaction(async (q) => {
    const next = ((await q.watermarks.find('restored')) ?? 0) + 1
    await q.watermarks.set('restored', next)
    return next
  })

test('serial transactions of several servers see what the ones before them committed', async () => {
  const [first, ...others] = [await openStore('serial'), await openStore('serial'), await openStore('serial')]
  const seen = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => await countUp(others[index % 3] ?? first)),
  )
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
  for (const store of [first, ...others]) await store.close()
})

test('of guarded transactions at once one spends a ticket', async () => {
  const store = await openStore('guarded')
  const all = await Promise.all(Array.from({ length: 50 }, async () => await spend(store, ticket, 'guarded')))
  expect(all.filter(({ isFirst }) => isFirst)).toHaveLength(1)
  await store.close()
})

test('servers take numbers of their own, and one of them does what one does for all', async () => {
  const [one, two] = [await openStore('nodes', 'server'), await openStore('nodes', 'server')]
  expect([one.node, two.node]).toEqual([0, 1])
  expect([one.leads(), two.leads()]).toEqual([true, false])
  await one.close()
  while (!two.leads()) await Bun.sleep(50)
  const three = await openStore('nodes', 'server')
  expect([three.node, three.leads()]).toEqual([0, false])
  await two.close()
  await three.close()
})
