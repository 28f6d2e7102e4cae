import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Platform } from '../../src/operations/platform.ts'
import {
  endEverySession,
  endOtherSessions,
  endSession,
  listSessions,
} from '../../src/operations/sessions/own-sessions.ts'
import { signIn } from '../support/sign-in.ts'
import { authenticateSession, type SessionCaller } from '../../src/operations/authenticate.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addUser, type Login } from '../support/world.ts'

let platform: Platform
let user: Login
beforeEach(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'sessions.db'))
  user = await addUser(platform)
})
afterEach(async () => await platform.database.close())

const everything = { limit: 50, cursor: null } as const
const at = (offsetMs: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + offsetMs },
})
/** Signs in and returns the token and its caller. */
const enter = async (login = user, agent: string | null = null, address = '192.0.2.1') => {
  const { sessionToken } = await signIn(platform, { ...trace, address }, login, { agent, device: null })
  const caller = await authenticateSession(platform, sessionToken)
  if (caller === null) throw new Error('not signed in')
  return { sessionToken, caller }
}
const works = async ({ sessionToken }: { sessionToken: string }) =>
  (await authenticateSession(platform, sessionToken)) !== null
const keysOf = async (caller: SessionCaller, when = platform) =>
  (await listSessions(when, caller, everything)).data.map(({ key }) => key)
const latestEvent = async () => {
  const [event] = await platform.database.queries.audit.list({ appId: null, since: 0, limit: 1 })
  return event
}

test('a user sees the address, time and browser of each session, newest first, and which one is current', async () => {
  const phone = await enter(user, 'Firefox on Android', '2001:db8::7')
  const here = await enter(user)
  const { data, nextCursor } = await listSessions(platform, here.caller, everything)
  expect(nextCursor).toBeNull()
  expect(data).toEqual([
    {
      key: here.caller.sessionKey,
      isCurrent: true,
      address: '192.0.2.1',
      agent: null,
      createdAt: expect.any(Number),
      usedAt: expect.any(Number),
      expiresAt: here.caller.expiresAt,
    },
    {
      key: phone.caller.sessionKey,
      isCurrent: false,
      address: '2001:db8::7',
      agent: 'Firefox on Android',
      createdAt: expect.any(Number),
      usedAt: expect.any(Number),
      expiresAt: phone.caller.expiresAt,
    },
  ])
  expect(JSON.stringify(data)).not.toContain(phone.sessionToken.slice(27))
})

test('the list has no ended or expired sessions and none of another user', async () => {
  const [here, ended, stranger] = [await enter(), await enter(), await enter(await addUser(platform))]
  await endSession(platform, trace, here.caller, ended.caller.sessionKey)
  expect(await keysOf(here.caller)).toEqual([here.caller.sessionKey])
  expect(await keysOf(stranger.caller)).toEqual([stranger.caller.sessionKey])
  expect(await keysOf(here.caller, at(12 * 3_600_000))).toEqual([])
})

test('a long list comes in pages without repetition', async () => {
  const all: string[] = []
  for (let count = 0; count < 5; count += 1) all.unshift((await enter()).caller.sessionKey)
  const { caller } = await enter()
  all.unshift(caller.sessionKey)
  const seen: string[] = []
  for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages += 1) {
    const page = await listSessions(platform, caller, { limit: 2, cursor })
    seen.push(...page.data.map(({ key }) => key))
    cursor = page.nextCursor
  }
  expect(seen).toEqual(all)
  await expect(listSessions(platform, caller, { limit: 2, cursor: "' or 1=1" })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('an ended session is refused, the others continue, and the audit records it once', async () => {
  const [here, lost, other] = [await enter(), await enter(), await enter()]
  expect(await endSession(platform, trace, here.caller, lost.caller.sessionKey)).toBe(true)
  expect([await works(here), await works(lost), await works(other)]).toEqual([true, false, true])
  const event = await latestEvent()
  expect(event).toMatchObject({
    actorKind: 'user',
    actorId: user.id,
    action: 'session.ended',
    target: lost.caller.sessionKey,
    outcome: 'done',
  })
  expect(await endSession(platform, trace, here.caller, lost.caller.sessionKey)).toBe(false)
  expect(await latestEvent()).toEqual(event)
})

test('the session of another user cannot be ended, and is refused like one that does not exist', async () => {
  const [here, stranger] = [await enter(), await enter(await addUser(platform))]
  for (const key of [stranger.caller.sessionKey, 'nothing']) {
    await expect(endSession(platform, trace, here.caller, key)).rejects.toMatchObject({ code: 'route_not_found' })
  }
  expect(await works(stranger)).toBe(true)
})

test('ending all others leaves the current session and those of other users', async () => {
  const stranger = await enter(await addUser(platform))
  const [one, two, here] = [await enter(), await enter(), await enter()]
  expect(await endOtherSessions(platform, trace, here.caller)).toBe(2)
  expect([await works(one), await works(two), await works(here), await works(stranger)]).toEqual([
    false,
    false,
    true,
    true,
  ])
  const event = await latestEvent()
  expect(event).toMatchObject({ actorId: user.id, action: 'sessions.ended', detail: '{"ended":2}' })
  expect(await endOtherSessions(platform, trace, here.caller)).toBe(0)
  expect(await latestEvent()).toEqual(event)
})

test('signing out everywhere ends the current session, too, and not those of other users', async () => {
  const stranger = await enter(await addUser(platform))
  const [one, here] = [await enter(), await enter()]
  expect(await endEverySession(platform, trace, here.caller)).toBe(2)
  expect([await works(one), await works(here), await works(stranger)]).toEqual([false, false, true])
  const actions = (await auditEvents(platform)).map(({ action }) => action)
  expect(actions.slice(-2)).toEqual(['sessions.ended', 'session.ended'])
})

/** The audit event of a sign-in with a wrong password. */
const refusedSignIn = async (email: string) => {
  await signIn(platform, trace, { email, password: 'wrong password' }).catch(() => undefined)
  return (await auditEvents(platform)).at(-1)
}

test('a refused sign-in is in the trail of its user if there is one', async () => {
  const refused = { action: 'session.create', outcome: 'refused', reason: 'invalid_login' }
  expect(await refusedSignIn(user.email)).toMatchObject({ ...refused, actorKind: 'user', actorId: user.id })
  expect(await refusedSignIn('nobody@example.com')).toMatchObject({ ...refused, actorKind: 'anonymous', actorId: null })
})
