import { beforeEach, describe, expect, test } from 'bun:test'
import { authenticateSession, type SessionCaller } from '../../src/operations/authenticate.ts'
import { resetFactors } from '../../src/operations/factors/change-factors.ts'
import { factorsOf } from '../../src/operations/factors/factors.ts'
import { removeFactor } from '../../src/operations/factors/change-factors.ts'
import { addPasskey } from '../../src/operations/factors/passkeys.ts'
import { proveAgain } from '../../src/operations/sessions/prove-again.ts'
import { finishSignIn, signIn, signInWithPasskey } from '../../src/operations/sessions/sign-in.ts'
import { eraseUser, exportUser } from '../../src/operations/users/personal-data.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { softAuthenticator } from '../support/authenticator.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const { origin, hostname } = new URL(platform.publicUrl)
const place = { origin, rpId: hostname }
const browser = { agent: null, device: null }

let user: Login
let caller: SessionCaller
let authenticator: ReturnType<typeof softAuthenticator>
beforeEach(async () => {
  user = await addUser(platform)
  caller = await sessionOf(platform, user)
  authenticator = softAuthenticator()
})

/** A page seals the time; here the challenge is the time. Each one is later than the one before. */
let last = 0
const challenge = () => {
  last = Math.max(last + 1, platform.clock.now())
  return Buffer.from(String(last)).toString('base64url')
}
const readChallenge = (text: string) => Number(Buffer.from(text, 'base64url').toString())

const register = async (response = authenticator.create({ challenge: challenge(), place })) =>
  await addPasskey(platform, trace, caller, { response, name: 'Laptop', readChallenge })
const passkeyId = async () => (await factorsOf(platform, user.id)).passkeys[0]?.id ?? ''
const remove = async () => await removeFactor(platform, trace, caller, { kind: 'passkey', id: await passkeyId() })
type Change = Partial<Parameters<typeof authenticator.get>[0]>
const answer = (change: Change = {}) => ({
  response: authenticator.get({ challenge: challenge(), place, ...change }),
  readChallenge,
})
const enter = async (given = answer()) => await signInWithPasskey(platform, trace, given, browser)
const refusedBecause = async () => {
  const refused = (await auditEvents(platform)).findLast(({ outcome }) => outcome === 'refused')
  return JSON.parse(refused?.detail ?? '{}').reason
}

describe('a passkey', () => {
  test('signs in alone, as the person who has it', async () => {
    expect(await register()).toHaveLength(10)
    const { sessionToken } = await enter()
    expect((await authenticateSession(platform, sessionToken))?.user.id).toBe(user.id)
  })

  test('is a second factor: the password is not enough, and an answer without verification of the person is', async () => {
    await register()
    const pending = await signIn(platform, trace, user)
    if (pending.kind !== 'pending') throw new Error('The password was enough.')
    const given = answer({ verified: false })
    expect(await finishSignIn(platform, trace, pending, { kind: 'passkey', answer: given }, browser)).toMatchObject({
      kind: 'signed_in',
    })
  })

  test('satisfies the rule that operators must have a second factor', async () => {
    await setOperator(platform, trace, operator, { userId: user.id, isOperator: true })
    await register()
    expect(await enter()).toMatchObject({ factorDueAt: null })
  })

  test('signs in once when one answer is sent many times at once', async () => {
    await register()
    const given = answer()
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => await enter(given)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  for (const [what, change] of [
    ['for another origin', { place: { origin: 'https://evil.example', rpId: hostname } }],
    ['for another host', { place: { origin, rpId: 'evil.example' } }],
    ['without verification of the person', { verified: false }],
    ['with an earlier challenge than the last', { challenge: Buffer.from('1').toString('base64url') }],
  ] as const) {
    test(`does not sign in alone ${what}`, async () => {
      await register()
      expect(await refusalOf(enter(answer(change)))).toBe('invalid_login')
      expect(await refusedBecause()).toBe('passkey_unknown')
    })
  }

  test('whose authenticator has not counted upwards is refused, and the audit says so', async () => {
    await register()
    await enter()
    expect(await refusalOf(enter(answer({ counts: 0 })))).toBe('invalid_login')
    expect(await refusedBecause()).toBe('passkey_counter')
  })

  test('of somebody else is no second factor', async () => {
    await register()
    const given = answer()
    const other = await addUser(platform)
    user = other
    caller = await sessionOf(platform, other)
    authenticator = softAuthenticator()
    await register()
    const pending = await signIn(platform, trace, other)
    if (pending.kind !== 'pending') throw new Error('The password was enough.')
    const entered = finishSignIn(platform, trace, pending, { kind: 'passkey', answer: given }, browser)
    expect(await refusalOf(entered)).toBe('invalid_login')
  })

  test('that was removed or reset is refused, and the answer that registered it does not bring it back', async () => {
    const made = authenticator.create({ challenge: challenge(), place })
    await register(made)
    await remove()
    expect(await refusalOf(enter())).toBe('invalid_login')
    expect(await refusalOf(register(made))).toBe('invalid_request')
    await register()
    await resetFactors(platform, trace, operator, user)
    expect(await refusalOf(enter())).toBe('invalid_login')
    expect(await signIn(platform, trace, user)).toMatchObject({ kind: 'signed_in' })
  })

  test('proves again who is there, if the authenticator has verified it', async () => {
    await register()
    const prove = async (given: ReturnType<typeof answer>) =>
      await proveAgain(platform, trace, caller, { kind: 'passkey', answer: given })
    await prove(answer())
    expect(await refusalOf(prove(answer({ verified: false })))).toBe('invalid_login')
  })

  test('does not sign in while the person is suspended, as operators are after a recovery that accepted a loss', async () => {
    await register()
    const { queries } = platform.database
    const [person, [passkey]] = [await queries.users.byId(user.id), await queries.passkeys.ofUser(user.id)]
    if (person === null || passkey === undefined) throw new Error('There is no passkey.')
    await remove()
    const suspended = { id: `usr_${user.id.slice(4).split('').toReversed().join('')}`, suspendedAt: 1 }
    await platform.database.transaction(async (q) => {
      await q.users.insert({ ...person, ...suspended, email: `suspended-${user.email}` })
      await q.passkeys.insert({
        ...passkey,
        id: `${passkey.id.slice(0, -1)}${passkey.id.endsWith('x') ? 'y' : 'x'}`,
        userId: suspended.id,
      })
    })
    expect(await refusalOf(enter())).toBe('invalid_login')
  })

  test('stands in the export by its name, and an erasure removes it', async () => {
    await register()
    expect((await exportUser(platform, user)).passkeys).toMatchObject([{ name: 'Laptop' }])
    await eraseUser(platform, trace, operator, { email: user.email })
    expect(await platform.database.queries.personal.rows('passkeys', user.id)).toEqual([])
  })
})
