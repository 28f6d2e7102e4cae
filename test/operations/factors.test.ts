import { authenticateSession } from '../../src/operations/authenticate.ts'
import {
  addAuthenticatorApp,
  removeFactor,
  replaceRecoveryCodes,
  resetFactors,
} from '../../src/operations/factors/change-factors.ts'
import { addPasskey } from '../../src/operations/factors/passkeys.ts'
import { factorsOf } from '../../src/operations/factors/factors.ts'
import type { Platform } from '../../src/operations/platform.ts'
import type { PendingSignIn } from '../../src/operations/sessions/entry.ts'
import { enrolAndSignIn, finishSignIn, signIn } from '../../src/operations/sessions/sign-in.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { resetPassword } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { softAuthenticator } from '../support/authenticator.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addTotp, totpCode } from '../support/factors.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'
import { beforeEach, describe, expect, test } from 'bun:test'

const platform = await platformOfFile()
const browser = { agent: null, device: null }
const day = 24 * 3_600_000

let user: Login
beforeEach(async () => {
  user = await addUser(platform)
})

const later = (offsetMs: number, on = platform): Platform => ({
  ...on,
  clock: { ...on.clock, now: () => platform.clock.now() + offsetMs },
})
const now = () => platform.clock.now()
const pendingFor = async (login = user, on = platform): Promise<PendingSignIn> => {
  const entry = await signIn(on, trace, login)
  if (entry.kind !== 'pending') throw new Error('The password was enough.')
  return entry
}
const finish = async (pending: PendingSignIn, code: string, on = platform) =>
  await finishSignIn(on, trace, pending, { kind: 'code', code }, browser)
const callerOf = async ({ sessionToken }: { readonly sessionToken: string }) => {
  const caller = await authenticateSession(platform, sessionToken)
  if (caller === null) throw new Error('There is no session.')
  return caller
}
const actions = async () => (await auditEvents(platform)).map(({ action, outcome }) => `${action} ${outcome}`)

describe('a code of an authenticator app', () => {
  test('is asked for after the right password, and there is no session before it', async () => {
    const { key } = await addTotp(platform, user)
    const before = (await platform.database.queries.personal.rows('sessions', user.id)).length
    const pending = await pendingFor()
    expect(pending.need).toBe('code')
    expect(await platform.database.queries.personal.rows('sessions', user.id)).toHaveLength(before)
    expect((await actions()).at(-1)).toBe('factor.asked done')
    const { sessionToken } = await finish(pending, totpCode(key, now(), 1))
    expect((await callerOf({ sessionToken })).user.id).toBe(user.id)
  })

  test('is accepted once, and earlier ones not after it', async () => {
    const { key } = await addTotp(platform, user)
    const pending = await pendingFor()
    const at = now()
    await finish(pending, totpCode(key, at, 1))
    for (const step of [1, 0, -1]) {
      expect(await refusalOf(finish(pending, totpCode(key, at, step)))).toBe('invalid_login')
    }
    expect((await actions()).at(-1)).toBe('session.create refused')
  })

  test('signs in once when it is sent many times at once', async () => {
    const { key } = await addTotp(platform, user)
    const pending = await pendingFor()
    const code = totpCode(key, now(), 1)
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => await finish(pending, code)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('is that of the setup only once', async () => {
    const { key } = await addTotp(platform, user)
    expect(await refusalOf(finish(await pendingFor(), totpCode(key, now())))).toBe('invalid_login')
  })

  test('may be one step early or late, and no more', async () => {
    const { key } = await addTotp(platform, user)
    const on = later(5 * 60_000)
    const pending = await pendingFor(user, on)
    for (const step of [-2, 2]) {
      expect(await refusalOf(finish(pending, totpCode(key, on.clock.now(), step), on))).toBe('invalid_login')
    }
    await finish(pending, totpCode(key, on.clock.now(), -1), on)
  })

  test('of another user is wrong', async () => {
    await addTotp(platform, user)
    const { key } = await addTotp(platform, await addUser(platform))
    expect(await refusalOf(finish(await pendingFor(), totpCode(key, now(), 1)))).toBe('invalid_login')
  })
})

describe('a recovery code', () => {
  test('signs in once, however it is typed, and many times at once only once', async () => {
    const { codes } = await addTotp(platform, user)
    expect(new Set(codes).size).toBe(10)
    const [first = '', second = ''] = codes
    const pending = await pendingFor()
    await finish(pending, ` ${first.toUpperCase().replaceAll('-', ' ')} `)
    expect(await refusalOf(finish(pending, first))).toBe('invalid_login')
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => await finish(pending, second)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await factorsOf(platform, user.id)).recoveryCodes).toBe(8)
    expect(await actions()).toContain('factor.recovery_code_used done')
  })

  test('is stored only as a hash', async () => {
    const { codes } = await addTotp(platform, user)
    const rows = JSON.stringify(await platform.database.queries.personal.rows('recoveryCodes', user.id))
    for (const code of codes) expect(rows).not.toContain(code)
  })

  test('stops working when new ones are made, and with the last factor', async () => {
    const { codes } = await addTotp(platform, user)
    const pending = await pendingFor()
    const caller = await callerOf(await finish(pending, codes[9] ?? ''))
    const fresh = await replaceRecoveryCodes(platform, trace, caller)
    expect(await refusalOf(finish(pending, codes[0] ?? ''))).toBe('invalid_login')
    await finish(pending, fresh[0] ?? '')
    await removeFactor(platform, trace, caller, { kind: 'totp' })
    expect(await refusalOf(finish(pending, fresh[1] ?? ''))).toBe('invalid_login')
    expect(await refusalOf(replaceRecoveryCodes(platform, trace, caller))).toBe('version_not_eligible')
  })
})

describe('a sign-in that waits for its second factor', () => {
  test('ends after ten minutes, with a new password, and when the user is disabled', async () => {
    const { key } = await addTotp(platform, user)
    const code = totpCode(key, now(), 1)
    const pending = await pendingFor()
    expect(await refusalOf(finish(pending, code, later(601_000)))).toBe('invalid_login')
    await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled' })
    expect(await refusalOf(finish(pending, code))).toBe('invalid_login')
    await setUserStatus(platform, trace, operator, { email: user.email, status: 'active' })
    await resetPassword(platform, trace, operator, { userId: user.id, password: 'another long password' })
    expect(await refusalOf(finish(pending, code))).toBe('invalid_login')
  })
})

const required = (rule: 'nobody' | 'operators' | 'everyone', offsetMs = 0): Platform =>
  later(offsetMs, { ...platform, signIn: { ...platform.signIn, secondFactorFor: rule } })

describe('a required second factor', () => {
  test('is asked for at each sign-in, and can be put off for seven days after the first', async () => {
    const first = await signIn(required('everyone'), trace, user)
    const dueAt = first.kind === 'signed_in' ? first.factorDueAt : null
    expect(dueAt ?? 0).toBeGreaterThan(now() + 7 * day - 60_000)
    expect(await signIn(required('everyone', 6.9 * day), trace, user)).toMatchObject({ factorDueAt: dueAt })
    expect(await signIn(required('everyone', 7.1 * day), trace, user)).toMatchObject({ need: 'enrolment' })
  })

  test('concerns operators, everybody or nobody', async () => {
    const asks = async (rule: 'nobody' | 'operators' | 'everyone') => {
      const entry = await signIn(required(rule), trace, user)
      return entry.kind === 'signed_in' && entry.factorDueAt !== null
    }
    expect([await asks('nobody'), await asks('operators'), await asks('everyone')]).toEqual([false, false, true])
    await setOperator(platform, trace, operator, { userId: user.id, isOperator: true })
    expect([await asks('nobody'), await asks('operators')]).toEqual([false, true])
  })

  test('is set up before there is a session, with a code that fits the key', async () => {
    await signIn(required('everyone'), trace, user)
    const on = required('everyone', 8 * day)
    const pending = await pendingFor(user, on)
    expect(await refusalOf(finish(pending, '123456', on))).toBe('invalid_login')
    const key = crypto.getRandomValues(new Uint8Array(20))
    const enrol = async (code: string) => await enrolAndSignIn(on, trace, pending, { kind: 'totp', key, code }, browser)
    expect(await refusalOf(enrol(totpCode(key, on.clock.now(), 5)))).toBe('invalid_request')
    const { signedIn, codes } = await enrol(totpCode(key, on.clock.now()))
    expect(codes).toHaveLength(10)
    expect((await authenticateSession(on, signedIn.sessionToken))?.user.id).toBe(user.id)
    expect(await pendingFor(user, on)).toMatchObject({ need: 'code' })
    // Whoever was asked to set one up at the same time cannot replace it.
    expect(await refusalOf(enrol(totpCode(key, on.clock.now(), 1)))).toBe('invalid_login')
  })
})

test('a factor that is set up at a sign-in for which nobody was asked is no proof; one that is asked for is', async () => {
  await signIn(required('everyone'), trace, user)
  const on = required('everyone', 8 * day)
  const askedAt = async (sessionToken: string) => (await authenticateSession(on, sessionToken))?.askedAt
  const pending = { ...(await pendingFor(user, on)), way: 'handover', proof: '' } as const
  const key = crypto.getRandomValues(new Uint8Array(20))
  const factor = { kind: 'totp', key, code: totpCode(key, on.clock.now()) } as const
  const { signedIn } = await enrolAndSignIn(on, trace, pending, factor, browser)
  expect(await askedAt(signedIn.sessionToken)).toBeNull()
  const proof = { kind: 'code', code: totpCode(key, on.clock.now(), 1) } as const
  const finished = await finishSignIn(on, trace, { ...pending, need: 'code' }, proof, browser)
  expect(on.clock.now() - ((await askedAt(finished.sessionToken)) ?? 0)).toBeLessThan(60_000)
})

test('a sign-in that was to set up a factor ends once the person has one of any kind: a password alone must not add another', async () => {
  await signIn(required('everyone'), trace, user)
  const on = required('everyone', 8 * day)
  const pending = await pendingFor(user, on)
  const place = { origin: platform.publicUrl, rpId: 'localhost' }
  const response = softAuthenticator().create({ challenge: 'any', place })
  const passkey = { response, name: 'Laptop', readChallenge: () => now() }
  await addPasskey(platform, trace, await sessionOf(platform, user), passkey)
  const key = crypto.getRandomValues(new Uint8Array(20))
  const enrolled = enrolAndSignIn(
    on,
    trace,
    pending,
    { kind: 'totp', key, code: totpCode(key, on.clock.now()) },
    browser,
  )
  expect(await refusalOf(enrolled)).toBe('invalid_login')
  expect(await platform.database.queries.totpKeys.ofUser(user.id)).toBeNull()
})

describe('an authenticator app', () => {
  test('is set up once: a second one needs the first to be removed', async () => {
    const caller = await sessionOf(platform, user)
    const keys = [1, 2].map(() => crypto.getRandomValues(new Uint8Array(20)))
    const add = async (key: Uint8Array) =>
      await addAuthenticatorApp(platform, trace, caller, { key, code: totpCode(key, now()) })
    const outcomes = await Promise.allSettled(keys.map(async (key) => await add(key)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await removeFactor(platform, trace, caller, { kind: 'totp' })
    expect(await signIn(platform, trace, user)).toMatchObject({ kind: 'signed_in' })
    expect(await add(keys[1] ?? new Uint8Array())).toHaveLength(10)
  })

  test('that was removed has no key any more', async () => {
    await addTotp(platform, user)
    await resetFactors(platform, trace, operator, user)
    const rows = await platform.database.queries.personal.rows('authenticatorApps', user.id)
    expect(rows.map(({ key }) => key.length)).toEqual([0])
  })
})

test('an operator resets the factors of a user who has lost them: sessions end, and the password is enough again', async () => {
  const { key, codes } = await addTotp(platform, user)
  const pending = await pendingFor()
  const { sessionToken } = await finish(pending, totpCode(key, now(), 1))
  const { endedSessions } = await resetFactors(platform, trace, operator, user)
  expect(endedSessions).toBe(2)
  expect(await authenticateSession(platform, sessionToken)).toBeNull()
  expect(await refusalOf(finish(pending, codes[0] ?? ''))).toBe('invalid_login')
  expect((await actions()).at(-1)).toBe('session.create refused')
  expect(await actions()).toContain('user.factors_reset done')
  expect(await signIn(platform, trace, user)).toMatchObject({ kind: 'signed_in' })
})
