/** What several callers want of PostgreSQL at once goes in one statement. What happens to one of them must not happen to others. */
import { expect } from 'bun:test'
import type { Database } from '../../../db/database.ts'
import { challengeOf } from '../../../src/domain/pkce.ts'
import { hashSecret } from '../../../src/domain/secret.ts'
import { type TimeKey, timeKeyAt } from '../../../src/domain/time-key.ts'
import { askPostgres, connectTo } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/nodes.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { openStore, outcomeOf } from './support.ts'

const { test } = needs('postgres')

const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

let lastKey = Date.now()
const freshKey = (): TimeKey => timeKeyAt((lastKey += 1))

/** A transaction that inserts one row, as the issue of a token does, with those that are made at the same time. */
const insert = async (store: Database, key = freshKey(), redirectUri = 'x') => {
  const codeChallenge = challengeOf('x'.repeat(43))
  const code = { key, hash: hashSecret(''), grantKey: key, redirectUri, codeChallenge, expiresAt: 1 }
  return await outcomeOf(async () => await store.transaction((q) => q.grants.insertCode(code), { kind: 'conditional' }))
}

test('a value that PostgreSQL refuses fails the transaction that has it, and none that is sent with it', async () => {
  const name = 'refused-values'
  const store = await openStore(name)
  const outcomes = await times(30, async (index) => {
    if (index === 3) return await insert(store, freshKey(), 'a NUL: \0')
    if (index === 11) return await insert(store, (2 ** 70) as TimeKey)
    return await insert(store)
  })
  const refused = [outcomes[3], outcomes[11]]
  expect(refused).toEqual([expect.stringContaining('invalid byte'), expect.stringContaining('invalid input')])
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(28)
  const [kept] = await askPostgres<{ count: number }>(
    await postgresDatabase(name),
    'SELECT count(*) AS count FROM authorization_codes',
    [],
  )
  expect(kept?.count).toBe(28)
  await store.close()
})

test('a key that PostgreSQL refuses fails the read of that key alone', async () => {
  const store = await openStore('refused-keys')
  const { credentials } = store.queries
  const outcomes = await Promise.all(
    ['x', 'a NUL: \0', 'y'].map(async (id) => await outcomeOf(async () => await credentials.find(id))),
  )
  expect(outcomes).toEqual(['done', expect.stringContaining('invalid byte'), 'done'])
  await store.close()
})

test('transactions that wait for the lock of a table are refused together, and not one after the other', async () => {
  const name = 'locked-table'
  const store = await openStore(name)
  await insert(store)
  const administrator = connectTo(await postgresDatabase(name))
  await administrator.begin(async (holder) => {
    await holder`LOCK TABLE authorization_codes IN SHARE MODE`
    // Each would wait for 5 seconds: 30 of them for longer than this test may take.
    expect(new Set(await times(30, async () => await insert(store)))).toEqual(new Set(['unavailable']))
  })
  await administrator.close()
  expect(await insert(store)).toBe('done')
  await store.close()
}, 180_000)

test('transactions that wait for a locked row do not hold up what is issued', async () => {
  const name = 'locked-row'
  const store = await openStore(name)
  await insert(store)
  const administrator = connectTo(await postgresDatabase(name))
  const key = 'a'.repeat(22)
  let waiting: Promise<readonly string[]> = Promise.resolve([])
  await administrator.begin(async (holder) => {
    await holder`INSERT INTO form_tickets (key, spent_at) VALUES (${key}, 1)`
    const spend = async () => await store.transaction((q) => q.formTickets.spend(key, 1), { kind: 'guarded' })
    waiting = times(40, async () => await outcomeOf(spend))
    const text =
      "SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    const url = await postgresDatabase(name)
    await until(async () => ((await askPostgres<{ count: number }>(url, text, []))[0]?.count ?? 0) > 10 || null)
    expect(new Set(await times(40, async () => await insert(store)))).toEqual(new Set(['done']))
  })
  await administrator.close()
  expect(new Set(await waiting)).toEqual(new Set(['done']))
  await store.close()
}, 180_000)

test('a frozen connection holds up what was sent over it, and nothing that comes later', async () => {
  const name = 'frozen'
  const url = await postgresDatabase(name)
  const store = await openStore(name)
  for (let round = 0; round < 3; round += 1) await times(40, async () => await insert(store))
  const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'with calls as%made as (%'
    ORDER BY query_start DESC LIMIT 1`
  const [last] = await askPostgres<{ pid: number }>(url, text, [])
  const pid = last?.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  let held = 0
  const first = times(200, async () => {
    held += 1
    await insert(store)
    held -= 1
  })
  try {
    // As many as can run at once would wait together with the first ones, and be refused after 5 seconds.
    const later = await times(400, async () => await insert(store))
    expect(new Set(later)).toEqual(new Set(['done']))
    expect(held).toBeGreaterThan(0)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  await first
  await store.close()
}, 180_000)
