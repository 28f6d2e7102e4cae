import { expect, test } from 'bun:test'
import { refuse } from '../../src/domain/errors.ts'
import type { Door } from '../../src/http/door.ts'
import { signInWithPasskeyHere, withPasswordLimit } from '../../src/http/sign-in-limit.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { refusalOf } from '../operations/support/owner.ts'
import { callFrom, doorOf } from './support/door.ts'

const platform = await platformOfFile()

/** A door with limits of two refused credentials and three failed sign-ins. */
const openDoor = () => doorOf(platform, { failed: { count: 2, seconds: 600 }, sign_in: { count: 3, seconds: 600 } })
const [here, elsewhere] = ['203.0.113.9', '198.51.100.7']

const signIn = async (
  door: Door,
  account: string,
  address: string,
  call: () => Promise<unknown>,
  knownAs: string | null = null,
) => await refusalOf(withPasswordLimit(door, callFrom(address), { account, knownAs }, call))
const succeed = async () => await Promise.resolve()
const failWith = (code: 'invalid_login' | 'unavailable') => async () => await Promise.reject(refuse(code))

/** A check of a password that lasts until the test ends it. */
const slowCheck = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { call: async () => await promise, end: resolve }
}

test('at most four sign-ins of one address are checked at a time, and another one starts when one has ended', async () => {
  const door = openDoor()
  const checks = Array.from({ length: 4 }, slowCheck)
  const open = checks.map(async ({ call }, index) => await signIn(door, `user-${index}`, here, call))
  expect(await signIn(door, 'one too many', here, succeed)).toBe('rate_limited')
  expect(await signIn(door, 'one too many', elsewhere, succeed)).toBe('done')
  checks[0]?.end()
  expect(await open[0]).toBe('done')
  const last = slowCheck()
  const next = signIn(door, 'next', here, last.call)
  expect(await signIn(door, 'one too many', here, succeed)).toBe('rate_limited')
  for (const { end } of [...checks, last]) end()
  expect(await Promise.all([...open, next])).toEqual(['done', 'done', 'done', 'done', 'done'])
  expect(door.signingIn.size).toBe(0)
})

test('a sign-in that was not checked does not count as a try', async () => {
  const door = openDoor()
  const checks = Array.from({ length: 4 }, slowCheck)
  const open = checks.map(async ({ call }, index) => await signIn(door, `user-${index}`, here, call))
  for (let count = 0; count < 5; count += 1) expect(await signIn(door, 'ada', here, succeed)).toBe('rate_limited')
  for (const { end } of checks) end()
  await Promise.all(open)
  for (let count = 0; count < 5; count += 1) {
    expect(await signIn(door, 'ada', here, failWith('unavailable'))).toBe('unavailable')
  }
  for (let count = 0; count < 5; count += 1) expect(await signIn(door, 'ada', here, succeed)).toBe('done')
})

test('failed sign-ins to an account from one address are limited, and a successful one does not count', async () => {
  const door = doorOf(platform, { sign_in: { count: 3, seconds: 600 } })
  const wrong = failWith('invalid_login')
  const tries = [wrong, succeed, wrong, succeed, wrong, succeed]
  const answers = []
  for (const call of tries) answers.push(await signIn(door, 'ada', here, call))
  expect(answers).toEqual(['invalid_login', 'done', 'invalid_login', 'done', 'invalid_login', 'rate_limited'])
  expect([await signIn(door, 'ada', elsewhere, succeed), await signIn(door, 'bob', here, succeed)]).toEqual([
    'done',
    'done',
  ])
})

test('an address that guesses at many accounts is refused, and none of its tries counts against them', async () => {
  const door = openDoor()
  expect(await signIn(door, 'ada', here, failWith('invalid_login'))).toBe('invalid_login')
  expect(await signIn(door, 'bob', here, failWith('invalid_login'))).toBe('invalid_login')
  expect(await signIn(door, 'cleo', here, failWith('invalid_login'))).toBe('rate_limited')
  for (let count = 0; count < 5; count += 1) expect(await signIn(door, 'dan', here, succeed)).toBe('rate_limited')
  expect(door.limiter.peek('sign_in', `dan ${here}`).remaining).toBe(3)
  expect(await signIn(door, 'dan', elsewhere, succeed)).toBe('done')
})

test('whoever the server knows has a count and places of their own, whatever others do at the same address', async () => {
  const door = openDoor()
  for (const account of ['ada', 'made up', 'ada']) await signIn(door, account, here, failWith('invalid_login'))
  const checks = Array.from({ length: 4 }, slowCheck)
  const crowd = checks.map(async ({ call }) => await signIn(door, 'eve', here, call, 'browser of eve'))
  expect(await signIn(door, 'eve', here, succeed, 'browser of eve')).toBe('rate_limited')
  expect(await signIn(door, 'ada', here, succeed)).toBe('rate_limited')
  expect(await signIn(door, 'ada', here, succeed, 'browser of ada')).toBe('done')
  for (const { end } of checks) end()
  await Promise.all(crowd)
})

test('guesses of somebody whom the server knows are limited at all addresses together, and cost nobody else a try', async () => {
  const door = openDoor()
  const guess = async (address: string) =>
    await signIn(door, 'ada', address, failWith('invalid_login'), 'stolen browser')
  const answers = []
  for (const address of [here, elsewhere, here, elsewhere, here]) answers.push(await guess(address))
  expect(answers).toEqual(['invalid_login', 'invalid_login', 'invalid_login', 'rate_limited', 'rate_limited'])
  expect(await signIn(door, 'ada', here, succeed)).toBe('done')
  expect(await signIn(door, 'ada', here, succeed, 'browser of ada')).toBe('done')
})

test('a wrong passkey keeps nobody from signing in, and wrong passwords nobody from using a passkey', async () => {
  const door = openDoor()
  const enter = async (id: string) => {
    const response = { clientDataJSON: '', authenticatorData: '', signature: '' }
    const made = { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} } as const
    const answer = { response: made, readChallenge: () => null }
    return await refusalOf(signInWithPasskeyHere(door, callFrom(here), answer))
  }
  for (let count = 0; count < 5; count += 1) expect(await enter('one')).toBe('invalid_login')
  expect(await signIn(door, 'ada', here, succeed)).toBe('done')
  for (const account of ['ada', 'bob', 'cleo']) await signIn(door, account, here, failWith('invalid_login'))
  expect([await signIn(door, 'ada', here, succeed), await enter('one')]).toEqual(['rate_limited', 'invalid_login'])
})
