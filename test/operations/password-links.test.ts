import { refuse } from '../../src/domain/errors.ts'
import { endUserAccess } from '../../src/operations/end-access.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { endEverySession, endOtherSessions, endSession } from '../../src/operations/sessions/own-sessions.ts'
import { setUserEmail } from '../../src/operations/users/users.ts'
import {
  createResetLink,
  inviteUser,
  openPasswordLink,
  usePasswordLink,
  changePassword,
} from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addTotp } from '../support/factors.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { signIn } from '../support/sign-in.ts'
import { addUser, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'
import { beforeEach, expect, test } from 'bun:test'

const platform = await platformOfFile()
const next = 'four unrelated words here'

let user: Login
beforeEach(async () => {
  user = await addUser(platform)
})

const secretIn = (link: string) => new URL(link).searchParams.get('link') ?? ''
const newLink = async (userId = user.id) => secretIn((await createResetLink(platform, trace, operator, userId)).link)
const use = async (link: string, password = next, on: Platform = platform) =>
  await usePasswordLink(on, trace, { link, password, repeated: password })
const works = async (link: string, on = platform) =>
  await openPasswordLink(on, trace, link).then(
    () => true,
    () => false,
  )
const dead = 'version_not_eligible'
const caller = async () => await sessionOf(platform, user)

test('a reset link sets the password once, ends every session, and leaves second factors', async () => {
  const caller = await sessionOf(platform, user)
  await addTotp(platform, user)
  const link = await newLink()
  expect(await works(link)).toBe(true)
  expect(await works(link)).toBe(true)
  await use(link)
  expect(await refusalOf(use(link))).toBe(dead)
  const { queries: q } = platform.database
  expect((await q.sessions.find(caller.sessionKey))?.session.endedAt).not.toBeNull()
  expect(await q.totpKeys.ofUser(user.id)).not.toBeNull()
  const passwordHash = (await q.users.byId(user.id))?.passwordHash ?? ''
  expect(await platform.passwords.matches(next, passwordHash)).toBe(true)
  const events = (await auditEvents(platform)).map(({ action, outcome }) => `${action} ${outcome}`)
  expect(events.slice(-2)).toEqual(['user.password_set done', 'user.use_link refused'])
})

test('of many uses at once one sets the password', async () => {
  const link = await newLink()
  const tries = Array.from({ length: 6 }, async (_, index) => await use(link, `${next} ${index}`))
  expect((await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('while a use of a link waits for its hash, another one is refused without a hash', async () => {
  const [link, other] = [await newLink(), await newLink((await addUser(platform)).id)]
  const waiting: (() => void)[] = []
  const hash = async (password: string) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return await platform.passwords.hash(password)
  }
  const slow = { ...platform, passwords: { ...platform.passwords, hash } }
  const uses = [use(link, next, slow), use(other, next, slow)]
  while (waiting.length < 2) await Bun.sleep(1)
  for (let count = 0; count < 3; count += 1) expect(await refusalOf(use(link, next, slow))).toBe('rate_limited')
  expect(waiting).toHaveLength(2)
  for (const resume of waiting) resume()
  await Promise.all(uses)
  expect(await refusalOf(use(link, next, slow))).toBe(dead)
})

const fullLine = async () => await Promise.reject(refuse('unavailable'))

test('a use whose hash was not computed leaves the link to the next one', async () => {
  const link = await newLink()
  const full = { ...platform, passwords: { ...platform.passwords, hash: fullLine } }
  expect(await refusalOf(use(link, next, full))).toBe('unavailable')
  await use(link)
})

test('a link is stored only as a hash', async () => {
  const link = await newLink()
  const rows = JSON.stringify(await platform.database.queries.personal.rows('passwordLinks', user.id))
  expect(rows).not.toContain(link)
  expect(JSON.stringify(await auditEvents(platform))).not.toContain(link)
})

test('a link works for 24 hours, and is then removed by a purge', async () => {
  const link = await newLink()
  const at = (hours: number): Platform => ({
    ...platform,
    clock: {
      ...platform.clock,
      now: () => Date.now() + hours * 3_600_000,
      purgeBefore: () => Date.now() + hours * 3_600_000,
    },
  })
  expect(await works(link, at(23))).toBe(true)
  expect(await refusalOf(use(link, next, at(24.1)))).toBe(dead)
  await purgeAll(
    at(25),
    trace,
    async () => undefined,
    () => false,
  )
  expect(await platform.database.queries.personal.rows('passwordLinks', user.id)).toEqual([])
})

test.each([
  ['a newer link is made', async () => await newLink()],
  [
    'the password is changed',
    async () => {
      const passwords = { current: user.password, next, repeated: next }
      return await changePassword(platform, trace, await caller(), passwords)
    },
  ],
  [
    'the address is changed',
    async () => await setUserEmail(platform, trace, operator, { email: user.email, to: `moved-${user.email}` }),
  ],
  ['all access is ended', async () => await endUserAccess(platform, trace, operator, user)],
  [
    'the user is disabled',
    async () =>
      await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled', apps: { kind: 'keep' } }),
  ],
  [
    'the user was disabled and is enabled again',
    async () => {
      for (const status of ['disabled', 'active'] as const) {
        await setUserStatus(platform, trace, operator, { email: user.email, status })
      }
    },
  ],
  ['the user signs out everywhere', async () => await endEverySession(platform, trace, await caller())],
  [
    'the user ends one of their other sessions',
    async () => await endSession(platform, trace, await caller(), (await caller()).sessionKey),
  ],
  ['the user ends their other sessions', async () => await endOtherSessions(platform, trace, await caller())],
])('a link does not work any more when %s', async (_, end) => {
  const link = await newLink()
  await end()
  expect(await refusalOf(use(link))).toBe(dead)
})

test('a link with a wrong secret, or none, is refused, and so is a weak or mistyped password', async () => {
  const link = await newLink()
  const other = await newLink((await addUser(platform)).id)
  const swapped = link.slice(0, 30) + other.slice(30)
  for (const text of ['', 'appl_', swapped, `${link}0`]) expect(await refusalOf(use(text))).toBe(dead)
  expect(await refusalOf(use(link, 'short'))).toBe('invalid_request')
  expect(await refusalOf(usePasswordLink(platform, trace, { link, password: next, repeated: 'x' }))).toBe(
    'invalid_request',
  )
  expect(await works(link)).toBe(true)
})

test('an invitation makes a user who can sign in only after setting a password', async () => {
  const email = `invited-${user.email}`
  const made = await inviteUser(platform, trace, operator, { email, name: 'Ada', isOperator: false })
  expect(await refusalOf(signIn(platform, trace, { email, password: '' }))).toBe('invalid_login')
  await use(secretIn(made.link))
  expect((await signIn(platform, trace, { email, password: next })).user.id).toBe(made.user.id)
})

test('an invitation for an existing person is refused and changes nothing', async () => {
  const before = await platform.database.queries.users.byId(user.id)
  const invitation = { email: user.email.toUpperCase(), name: 'Somebody Else', isOperator: true }
  expect(await refusalOf(inviteUser(platform, trace, operator, invitation))).toBe('invalid_request')
  expect(await platform.database.queries.users.byId(user.id)).toEqual(before)
  expect(await platform.database.queries.personal.rows('passwordLinks', user.id)).toEqual([])
})
