import { expect } from 'bun:test'
import type { Database } from '../../../db/database.ts'
import { defaultRateLimits } from '../../../src/domain/limits.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import { askPostgres } from '../../support/beside.ts'
import { eventually } from '../../support/crash.ts'
import { needs } from '../../support/needs.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { openStore } from './support.ts'

const { afterAll, test } = needs('postgres')

const stores: Database[] = []
afterAll(async () => {
  for (const store of stores) await store.close()
})

const key = 'app_1 203.0.113.9'

/** A server that counts: each has its own connection, and the test says when it shares and what its time is. */
const server = async (name: string, limit = { count: 10, seconds: 600 }) => {
  const store = await openStore(name)
  stores.push(store)
  const time = { ms: Math.floor(Math.random() * 1e6) }
  const limiter = createRateLimiter({
    limits: { ...defaultRateLimits, failed: limit, sign_in: limit, token: limit },
    monotonicMs: () => time.ms,
    secret: 'the same for all',
    isShared: true,
  })
  return {
    time,
    limiter,
    share: async () => await limiter.share(async (changes) => (await store.cluster?.mergeLimits(changes)) ?? []),
    shareInVain: async () => await limiter.share(async () => await Promise.reject(new Error('unreachable'))),
    fail: (times: number, of = key) =>
      Array.from({ length: times }, () => limiter.take('failed', of)).filter(({ allowed }) => allowed).length,
    left: (of = key) => limiter.peek('failed', of).remaining,
  }
}
const rowsIn = async (name: string) =>
  await askPostgres<Record<string, unknown>>(await postgresDatabase(name), 'SELECT * FROM shared_limits', [])

test('failures at several servers are counted together, whatever the time of each', async () => {
  const [one, two, three] = [await server('together'), await server('together'), await server('together')]
  expect([one.fail(3), two.fail(4)]).toEqual([3, 4])
  for (const each of [one, two, three, one]) await each.share()
  expect([one.left(), two.left(), three.left()]).toEqual([3, 3, 3])
  expect(three.fail(9)).toBe(3)
  for (const each of [three, one, two]) await each.share()
  expect([one.fail(1), two.fail(1), three.fail(1)]).toEqual([0, 0, 0])
  expect(one.left('app_2 203.0.113.9')).toBe(10)
})

test('sign-ins are counted together too, and what was given back is given back everywhere', async () => {
  const [one, two] = [await server('given-back'), await server('given-back')]
  for (let tried = 0; tried < 4; tried += 1) one.limiter.take('sign_in', key)
  await one.share()
  await two.share()
  expect(two.limiter.peek('sign_in', key).remaining).toBe(6)
  for (let tried = 0; tried < 3; tried += 1) one.limiter.giveBack('sign_in', key)
  await one.share()
  await two.share()
  expect(two.limiter.peek('sign_in', key).remaining).toBe(9)
})

test('other limits are counted by each server, and a try that succeeds at once is told to nobody', async () => {
  const [one, two] = [await server('alone'), await server('alone')]
  one.limiter.take('token', key)
  one.limiter.take('sign_in', key)
  one.limiter.giveBack('sign_in', key)
  await one.share()
  await two.share()
  expect(two.limiter.peek('token', key).remaining).toBe(10)
  expect(await rowsIn('alone')).toEqual([])
})

test('what is shared names nobody, and is removed when nothing is owed any more', async () => {
  const one = await server('removed', { count: 10, seconds: 1 })
  one.fail(5)
  await one.share()
  const [row, ...others] = await rowsIn('removed')
  expect(others).toEqual([])
  expect(Object.keys(row ?? {})).toEqual(['policy', 'set_number', 'fingerprint', 'owed_until', 'changed_at'])
  expect(JSON.stringify(row)).not.toContain('203.0.113')
  const left = await eventually(
    async () => {
      await one.share()
      return (await rowsIn('removed')).length
    },
    (rows) => rows === 0,
  )
  expect(left).toBe(0)
})

test('a server that cannot reach PostgreSQL goes on with its own counts, and locks nobody out for longer afterwards', async () => {
  const [one, two] = [await server('apart'), await server('apart')]
  one.fail(5)
  two.fail(2)
  await expect(one.shareInVain()).rejects.toThrow('unreachable')
  await one.share()
  await two.share()
  await one.share()
  expect([one.left(), two.left()]).toEqual([3, 3])
  one.time.ms += 600_000
  await two.share()
  two.time.ms += 600_000
  await askPostgres(await postgresDatabase('apart'), 'UPDATE shared_limits SET owed_until = 0', []) // as time does
  for (let round = 0; round < 5; round += 1) {
    expect(one.fail(10)).toBe(10)
    await expect(one.shareInVain()).rejects.toThrow('unreachable')
    expect(one.fail(1)).toBe(0)
    one.time.ms += 600_000
  }
  one.fail(10)
  await one.share()
  await two.share()
  expect([one.left(), two.left()]).toEqual([0, 0])
  for (const each of [one, two]) each.time.ms += 600_000
  expect([one.left(), two.left()]).toEqual([10, 10])
})

test('however many servers count a key at the same time, it waits for two windows at most', async () => {
  const servers = [await server('at once')]
  for (let more = 0; more < 4; more += 1) servers.push(await server('at once'))
  for (const each of servers) each.fail(10)
  for (const each of [...servers, ...servers]) await each.share()
  for (const each of servers) each.time.ms += 600_000
  expect(servers.map((each) => each.left())).toEqual([0, 0, 0, 0, 0])
  for (const each of servers) each.time.ms += 600_000
  expect(servers.map((each) => each.left())).toEqual([10, 10, 10, 10, 10])
})

test('a try under way somewhere else at the limit takes nothing off what is owed when it succeeds', async () => {
  const [one, two] = [await server('under way'), await server('under way')]
  for (let tried = 0; tried < 10; tried += 1) one.limiter.take('sign_in', key)
  two.limiter.take('sign_in', key)
  for (const each of [one, two]) await each.share()
  two.limiter.giveBack('sign_in', key)
  for (const each of [two, one]) await each.share()
  expect([one, two].map(({ limiter }) => limiter.peek('sign_in', key).allowed)).toEqual([false, false])
})

test('a failure after the counts in PostgreSQL were lost tells all that the server knows', async () => {
  const [one, two] = [await server('lost'), await server('lost')]
  one.fail(8)
  await one.share()
  await askPostgres(await postgresDatabase('lost'), 'TRUNCATE shared_limits', [])
  one.fail(1)
  await one.share()
  await two.share()
  expect([one.left(), two.left()]).toEqual([1, 1])
})

test('of a flood of keys a server tells 250 at a time, those that have failed most first', async () => {
  const [one, two] = [await server('flood'), await server('flood')]
  for (let made = 0; made < 2_000; made += 1) one.fail(1, `made up ${made}`)
  one.fail(9)
  await one.share()
  await two.share()
  expect((await rowsIn('flood')).length).toBe(250)
  expect([one.left(), two.left()]).toEqual([1, 1])
})

test('counts go on being shared when the clock of PostgreSQL is behind what it was, as after a failover', async () => {
  const url = await postgresDatabase('clock-behind')
  const setAhead = async (seconds: number) =>
    await askPostgres(
      url,
      `CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
        AS 'SELECT pg_catalog.clock_timestamp() + interval ''${seconds} s'''`,
      [],
    )
  await setAhead(60)
  const [[database] = []] = [Object.values((await askPostgres(url, 'SELECT current_database()', []))[0] ?? {})]
  await askPostgres(url, `ALTER DATABASE ${String(database)} SET search_path = public, pg_catalog`, [])
  const [one, two] = [await server('clock-behind'), await server('clock-behind')]
  await one.share()
  await setAhead(0)
  two.fail(4)
  await two.share()
  await one.share()
  await one.share()
  expect(one.left()).toBe(6)
})
