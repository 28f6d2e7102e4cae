import { beforeAll, expect, test } from 'bun:test'
import { refuse } from '../../src/domain/errors.ts'
import { withClientLimits, withGrantLimits } from '../../src/http/limits.ts'
import type { Door } from '../../src/http/door.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { refusalOf } from '../operations/support/owner.ts'
import { addApp, addUser } from '../support/world.ts'
import { callFrom, doorOf } from './support/door.ts'

const platform = await platformOfFile()
let clientId: string
let otherId: string
beforeAll(async () => {
  const user = await addUser(platform)
  clientId = (await addApp(platform, user)).development.clientId
  otherId = (await addApp(platform, user)).development.clientId
})

const [here, elsewhere] = ['203.0.113.9', '198.51.100.7']
const succeed = async () => await Promise.resolve()
const failWith = (code: 'invalid_client' | 'invalid_grant' | 'invalid_scope') => async () =>
  await Promise.reject(refuse(code))

const asClient = async (door: Door, id: string, call: () => Promise<unknown>, address = here) =>
  await refusalOf(withClientLimits(door, callFrom(address), id, 'client_secret', call))
const withGrant = async (door: Door, id: string, call: () => Promise<unknown>, address = here) =>
  await refusalOf(withGrantLimits(door, callFrom(address), id, 'authorization_code', call))

test('a client has its own share of calls at each address', async () => {
  for (const call of [asClient, withGrant]) {
    const door = doorOf(platform, { token: { count: 2, seconds: 600 } })
    for (const answer of ['done', 'done', 'rate_limited']) expect(await call(door, clientId, succeed)).toBe(answer)
    expect([await call(door, otherId, succeed), await call(door, clientId, succeed, elsewhere)]).toEqual([
      'done',
      'done',
    ])
  }
})

test('only a refused secret counts against a client', async () => {
  const door = doorOf(platform, { failed: { count: 2, seconds: 600 } })
  for (const code of ['invalid_scope', 'invalid_grant'] as const) {
    for (let count = 0; count < 5; count += 1) expect(await withGrant(door, clientId, failWith(code))).toBe(code)
  }
  for (let count = 0; count < 2; count += 1) {
    expect(await withGrant(door, clientId, failWith('invalid_client'))).toBe('invalid_client')
  }
  expect([await asClient(door, clientId, succeed), await withGrant(door, clientId, succeed)]).toEqual([
    'rate_limited',
    'rate_limited',
  ])
})

test('grants that were admitted together and succeeded are all charged afterwards', async () => {
  const door = doorOf(platform, { token: { count: 2, seconds: 600 } })
  const { promise, resolve } = Promise.withResolvers<void>()
  const together = Array.from({ length: 3 }, async () => await withGrant(door, clientId, async () => await promise))
  resolve()
  expect(await Promise.all(together)).toEqual(['done', 'done', 'done'])
  expect(door.limiter.peek('token', `${clientId} ${here}`)).toMatchObject({ allowed: false, resetSeconds: 600 })
})

/** A door whose delays last until the test ends them. */
const slowDoor = () => {
  const lengths: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const sleep = async (milliseconds: number) => {
    lengths.push(milliseconds)
    await promise
  }
  return { door: { ...doorOf(platform), sleep }, lengths, end: resolve }
}

test('each refused grant is delayed longer than the one before, by one second at most', async () => {
  const { door, lengths, end } = slowDoor()
  end()
  for (let count = 0; count < 130; count += 1) await withGrant(door, clientId, failWith('invalid_grant'))
  expect(lengths.length).toBe(130 - 70) // the delays of the first refusals would be too short
  expect(lengths).toEqual(lengths.toSorted((one, other) => one - other))
  expect([lengths[0], lengths.at(-1)]).toEqual([20, 1_000])
})

test('a valid code, another refusal and another client are not delayed, even while refused grants are', async () => {
  const { door, lengths, end } = slowDoor()
  const spent = 119
  for (let count = 0; count < spent; count += 1) door.limiter.take('failed', `grant ${clientId} ${here}`)
  const refused = withGrant(door, clientId, failWith('invalid_grant'))
  expect(await withGrant(door, clientId, succeed)).toBe('done')
  expect(await asClient(door, clientId, succeed)).toBe('done')
  expect(await withGrant(door, clientId, failWith('invalid_scope'))).toBe('invalid_scope')
  expect(await withGrant(door, clientId, failWith('invalid_client'))).toBe('invalid_client')
  expect(await withGrant(door, otherId, failWith('invalid_grant'))).toBe('invalid_grant')
  expect(await withGrant(door, clientId, failWith('invalid_grant'), elsewhere)).toBe('invalid_grant')
  expect(lengths).toEqual([1_000])
  end()
  expect(await refused).toBe('invalid_grant')
})

test('at most eight refused grants of one client at one address wait; the next one is answered at once', async () => {
  const { door, lengths, end } = slowDoor()
  for (let count = 0; count < 120; count += 1) door.limiter.take('failed', `grant ${clientId} ${here}`)
  const waiting = Array.from({ length: 8 }, async () => await withGrant(door, clientId, failWith('invalid_grant')))
  for (let count = 0; count < 100; count += 1) {
    expect(await withGrant(door, clientId, failWith('invalid_grant'))).toBe('invalid_grant')
  }
  expect(lengths.length).toBe(8)
  end()
  await Promise.all(waiting)
  expect(door.delayed.size).toBe(0)
})

test('refused grants of at most 128 clients and addresses wait, and none wait while the server stops', async () => {
  const { door, lengths, end } = slowDoor()
  const addresses = Array.from({ length: 140 }, (_, index) => `192.0.2.${index}`)
  for (const address of addresses) {
    for (let count = 0; count < 120; count += 1) door.limiter.take('failed', `grant ${clientId} ${address}`)
  }
  const answers = addresses.map(async (address) => await withGrant(door, clientId, failWith('invalid_grant'), address))
  await Promise.all(answers.slice(128))
  expect([door.delayed.size, lengths.length]).toEqual([128, 128])
  const stopping = { ...door, draining: () => true }
  expect(await withGrant(stopping, otherId, failWith('invalid_grant'))).toBe('invalid_grant')
  end()
  await Promise.all(answers)
})

test('a code that is refused without a secret takes a share, and does not count against the client', async () => {
  const door = doorOf(platform, { token: { count: 3, seconds: 600 }, failed: { count: 1, seconds: 600 } })
  for (const answer of ['invalid_grant', 'invalid_grant', 'invalid_grant', 'rate_limited']) {
    expect(await asClient(door, clientId, failWith('invalid_grant'))).toBe(answer)
  }
  expect(door.limiter.peek('failed', `${clientId} ${here}`).allowed).toBe(true)
})
