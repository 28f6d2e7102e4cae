import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Platform } from '../../src/operations/platform.ts'
import { endSession, listSessions } from '../../src/operations/sessions/own-sessions.ts'
import { signIn } from '../support/sign-in.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { changePassword, resetPassword } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addUser, type Login } from '../support/world.ts'

let platform: Platform
let user: Login
beforeEach(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'password.db'))
  user = await addUser(platform)
})
afterEach(async () => await platform.database.close())

const next = 'a much better password'
const enter = async (password = user.password, agent: string | null = null) => {
  const { sessionToken } = await signIn(platform, trace, { email: user.email, password }, { agent, device: null })
  const caller = await authenticateSession(platform, sessionToken)
  if (caller === null) throw new Error('not signed in')
  return { sessionToken, caller }
}
const works = async (sessionToken: string) => (await authenticateSession(platform, sessionToken)) !== null
const storedHash = async () => (await platform.database.queries.users.byId(user.id))?.passwordHash
const refusalOf = async (attempt: Promise<unknown>): Promise<unknown> =>
  await attempt.then(
    () => 'done',
    ({ code, facts }: { code: string; facts: { param?: string } }) => `${code} ${facts.param}`,
  )
const events = async () =>
  (await auditEvents(platform)).map(({ action, outcome, reason, actorId, target }) => ({
    action,
    outcome,
    reason,
    actorId,
    target,
  }))

test('after a change only the new password signs in, and every earlier session has ended', async () => {
  const [other, here] = [await enter(), await enter(user.password, 'Firefox on Linux')]
  const fresh = await changePassword(platform, trace, here.caller, { current: user.password, next, repeated: next })

  expect([await works(other.sessionToken), await works(here.sessionToken)]).toEqual([false, false])
  const caller = await authenticateSession(platform, fresh.sessionToken)
  if (caller === null) throw new Error('the fresh session does not work')
  expect(caller.expiresAt).toBe(fresh.expiresAt)
  const { data } = await listSessions(platform, caller, { limit: 50, cursor: null })
  expect(data).toMatchObject([{ isCurrent: true, agent: 'Firefox on Linux' }])

  expect(await refusalOf(enter())).toStartWith('invalid_login')
  expect(await works((await enter(next)).sessionToken)).toBe(true)
  const told = { actorId: user.id, target: user.id }
  expect(await events()).toContainEqual({ action: 'user.password_changed', outcome: 'done', reason: null, ...told })
})

test('a wrong current password changes nothing, ends nothing and is recorded', async () => {
  const [here, before] = [await enter(), await storedHash()]
  for (const current of ['wrong', '', user.password.toUpperCase(), `${user.password}\0`, 'x'.repeat(73)]) {
    expect(await refusalOf(changePassword(platform, trace, here.caller, { current, next, repeated: next }))).toBe(
      'invalid_login current',
    )
  }
  expect([await storedHash(), await works(here.sessionToken)]).toEqual([before, true])
  const refused = { action: 'user.change_password', outcome: 'refused', reason: 'invalid_login' } as const
  expect((await events()).filter(({ action }) => action === refused.action)).toEqual(
    Array.from({ length: 5 }, () => ({ ...refused, actorId: user.id, target: user.id })),
  )
})

test('a new password must be allowed, differ from the current one, and be typed the same twice', async () => {
  const [here, before] = [await enter(), await storedHash()]
  const current = user.password
  const attempt = async (password: string, repeated = password) =>
    await refusalOf(changePassword(platform, trace, here.caller, { current, next: password, repeated }))
  expect(await attempt('short')).toBe('invalid_request password')
  expect(await attempt('Password123')).toBe('invalid_request password')
  expect(await attempt('\u{1F511}'.repeat(19))).toBe('invalid_request password')
  expect(await attempt('nul\0 nul nul')).toBe('invalid_request password')
  expect(await attempt(current)).toBe('invalid_request password')
  expect(await attempt(next, `${next} `)).toBe('invalid_request repeated')
  expect([await storedHash(), await works(here.sessionToken)]).toEqual([before, true])
})

test('a fault of the new password is reported before the current one is checked', async () => {
  const { caller } = await enter()
  const told = async (current: string) =>
    await refusalOf(changePassword(platform, trace, caller, { current, next: 'short', repeated: 'short' }))
  expect(await told('wrong')).toBe(await told(user.password))
})

test('a session that ends while the hashes are computed changes no password and gets no new session', async () => {
  const [here, other, before] = [await enter(), await enter(), await storedHash()]
  const slow: Platform = {
    ...platform,
    passwords: {
      ...platform.passwords,
      hash: async (password) => {
        await endSession(platform, trace, other.caller, here.caller.sessionKey)
        return await platform.passwords.hash(password)
      },
    },
  }
  const change = changePassword(slow, trace, here.caller, { current: user.password, next, repeated: next })
  expect(await refusalOf(change)).toStartWith('login_required')
  expect([await storedHash(), await works(other.sessionToken)]).toEqual([before, true])
  expect((await listSessions(platform, other.caller, { limit: 50, cursor: null })).data).toHaveLength(1)
})

test('of two changes that race one succeeds, and only its session is left', async () => {
  const [one, two] = [await enter(), await enter()]
  const passwords = ['the first new password', 'the second new password']
  const outcomes = await Promise.allSettled(
    [one, two].map(async ({ caller }, index) => {
      const chosen = passwords[index] ?? ''
      const fresh = await changePassword(platform, trace, caller, {
        current: user.password,
        next: chosen,
        repeated: chosen,
      })
      return { chosen, sessionToken: fresh.sessionToken }
    }),
  )
  const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  expect(won).toHaveLength(1)
  expect(await works(won[0]?.sessionToken ?? '')).toBe(true)
  expect(await works((await enter(won[0]?.chosen)).sessionToken)).toBe(true)
  expect([await works(one.sessionToken), await works(two.sessionToken)]).toEqual([false, false])
})

test('a sign-in fails if the password was replaced or the user disabled while the password was being checked', async () => {
  const { id: userId, email, password } = user
  for (const meanwhile of [
    async () => await resetPassword(platform, trace, operator, { userId, password: next }),
    async () => await setUserStatus(platform, trace, operator, { email, status: 'disabled' }),
  ]) {
    const matches: Platform['passwords']['matches'] = async (...given) => {
      const isRight = await platform.passwords.matches(...given)
      await meanwhile()
      return isRight
    }
    const during = { ...platform, passwords: { ...platform.passwords, matches } }
    const current = (await events()).some(({ action }) => action === 'user.password_reset') ? next : password
    expect(await refusalOf(signIn(during, trace, { email, password: current }))).toStartWith('invalid_login')
    expect((await events()).at(-1)).toMatchObject({ action: 'session.create', reason: 'invalid_login' })
  }
})

test('of two operators who reset a password at once one succeeds, and is shown the password that works', async () => {
  const reset = async (password: string) =>
    await refusalOf(resetPassword(platform, trace, operator, { userId: user.id, password }))
  const passwords = ['the first of the two', 'the second of the two']
  const answers = await Promise.all(passwords.map(reset))
  expect(answers.toSorted()).toEqual(['done', 'version_not_eligible undefined'])
  expect(await refusalOf(enter(passwords[answers.indexOf('done')] ?? ''))).toBe('done')
})

test('a reset password and disabling the user end every session, and enabling the user restores none', async () => {
  const before = await enter()
  await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled' })
  await setUserStatus(platform, trace, operator, { email: user.email, status: 'active' })
  const after = await enter()
  expect([await works(before.sessionToken), await works(after.sessionToken)]).toEqual([false, true])
  await resetPassword(platform, trace, operator, { userId: user.id, password: next })
  expect(await works(after.sessionToken)).toBe(false)
})

test('a password is compared in full: one that only begins the same is refused', async () => {
  const longest = 'x'.repeat(72)
  await resetPassword(platform, trace, operator, { userId: user.id, password: longest })
  const { caller } = await enter(longest)
  for (const password of [`${longest}x`, `${longest}\0`]) {
    expect(await refusalOf(enter(password))).toStartWith('invalid_login')
    const change = { current: password, next, repeated: next }
    expect(await refusalOf(changePassword(platform, trace, caller, change))).toBe('invalid_login current')
  }
  expect(await refusalOf(enter(longest))).toBe('done')
})

test('a reset needs an existing user and an allowed password', async () => {
  const reset = async (userId: string, password: string) =>
    await refusalOf(resetPassword(platform, trace, operator, { userId, password }))
  const before = await storedHash()
  for (const password of ['', 'short', 'x'.repeat(73), `${next}\0`]) {
    expect(await reset(user.id, password)).toBe('invalid_request password')
  }
  expect(await reset('usr_none', next)).toBe('invalid_request user')
  const nobody = { email: 'nobody@example.com', status: 'disabled' } as const
  expect(await refusalOf(setUserStatus(platform, trace, operator, nobody))).toBe('invalid_request email')
  expect(await storedHash()).toEqual(before ?? '')
})

test('a change fails if the password was replaced while the current one was being checked', async () => {
  const here = await enter()
  const replaced: Platform = {
    ...platform,
    passwords: {
      ...platform.passwords,
      hash: async (password) => {
        const [old, newer] = [await storedHash(), await platform.passwords.hash('of somebody quicker')]
        await platform.database.transaction(
          async (q) => await q.users.replacePassword(user.id, old ?? '', newer, platform.clock.now()),
        )
        return await platform.passwords.hash(password)
      },
    },
  }
  const change = changePassword(replaced, trace, here.caller, { current: user.password, next, repeated: next })
  expect(await refusalOf(change)).toBe('invalid_login current')
  expect(await works((await enter('of somebody quicker')).sessionToken)).toBe(true)
})

test('a reset refuses a common password and changes nothing', async () => {
  const before = await storedHash()
  const reset = resetPassword(platform, trace, operator, { userId: user.id, password: 'baseball' })
  expect(await refusalOf(reset)).toBe('invalid_request password')
  expect(await storedHash()).toBe(before)
})
