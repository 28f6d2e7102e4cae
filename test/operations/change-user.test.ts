import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { signInRequest } from '../../src/domain/sign-in-rules.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { answerSignIn, completeSignIn } from '../../src/operations/sessions/handover.ts'
import { signInWithIdentity } from '../../src/operations/sessions/identity.ts'
import { importUsers } from '../../src/operations/users/import-users.ts'
import { linkUser, putBuilderUser, setUserEmail, type StatedUser } from '../../src/operations/users/users.ts'
import { askForEmail, createResetLink, openPasswordLink, useEmailLink } from '../../src/operations/users/passwords.ts'
import { linkIdentity } from '../../src/operations/users/identities.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { sendNextMail } from '../../src/operations/mails/send-mails.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { auditEvents } from '../support/audit-events.ts'
import { claimsOf } from '../support/claims.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { signIn } from '../support/sign-in.ts'
import { addUser, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const server = await startMailServer()
afterAll(async () => await server.down())
const mailer = server.mailer()
const platform: Platform = { ...(await platformOfFile()), mailer }
const { queries: q } = platform.database
const key = await createServiceKey(platform, trace, operator, {
  name: 'Builder',
  rights: ['users:write'],
  networks: [],
  expiresInDays: null,
})
const builder = { kind: 'service', id: key.id } as const

/** Sends all mails, and returns those of this subject as addresses. */
const toldTo = async (subject: string) => {
  const before = server.received.length
  while (await sendNextMail(platform, trace, mailer));
  return server.received.slice(before).flatMap(({ head, to }) => (head.includes(subject) ? to : []))
}
const actionsOn = async (id: string) =>
  (await auditEvents(platform)).flatMap(({ action, target }) => (target === id ? [action] : []))

let user: Login
beforeEach(async () => {
  user = await addUser(platform)
})

const stated = async (id: string) => {
  const found = await q.users.byId(id)
  if (found === null) throw new Error('nobody')
  const { name, pictureUrl, email } = found
  await linkUser(platform, trace, operator, { email, externalId: id })
  return { externalId: id, email, name, pictureUrl, status: null }
}

describe.each<[door: string, change: (to: string) => Promise<unknown>]>([
  ['the desk', async (to) => await setUserEmail(platform, trace, operator, { email: user.email, to })],
  [
    'the builder',
    async (email) => await putBuilderUser(platform, trace, builder, { ...(await stated(user.id)), email }),
  ],
  [
    'the identity provider',
    async (to) => {
      const claims = claimsOf({ subject: user.id, email: to })
      await linkIdentity(platform, trace, operator, { ...claims, email: user.email })
      const rules = { createsUsers: false, linksByEmail: false }
      await signInWithIdentity(platform, trace, claims, rules, { agent: null, begunAt: platform.clock.now() })
    },
  ],
])('another address, set by %s,', (_, change) => {
  test('ends the links of the person, is told at the old address, and leaves the sessions', async () => {
    const session = await signIn(platform, trace, user)
    const { link } = await createResetLink(platform, trace, operator, user.id)
    await toldTo('')
    await change(`new-${user.email}`)
    expect(await toldTo('Your email address')).toEqual([user.email])
    expect(await refusalOf(openPasswordLink(platform, trace, secretOf(link)))).toBe('version_not_eligible')
    expect((await actionsOn(user.id)).filter((action) => action === 'user.email_changed')).toHaveLength(1)
    expect(await authenticateSession(platform, session.sessionToken)).not.toBeNull()
  })
})

const secretOf = (link: string) => new URL(link).searchParams.get('link') ?? ''

test('another address, confirmed by the person, is told at the old one and recorded as theirs', async () => {
  await askForEmail(platform, trace, await sessionOf(platform, user), `own-${user.email}`)
  const before = server.received.length
  while (await sendNextMail(platform, trace, mailer));
  const link =
    server.received
      .slice(before)
      .map(linkIn)
      .find((found) => found !== '') ?? ''
  await useEmailLink(platform, trace, link)
  expect(await toldTo('Your email address')).toEqual([user.email])
  const event = (await auditEvents(platform)).findLast(({ action }) => action === 'user.email_changed')
  expect([event?.actorKind, event?.actorId, event?.target]).toEqual(['user', user.id, user.id])
})

const importing = async (person: StatedUser) => {
  const chunks = new Blob([JSON.stringify(person)]).stream()
  return await importUsers(platform, trace, builder, { chunks, read: (text) => JSON.parse(text) })
}

test.each<[door: string, create: (person: StatedUser) => Promise<unknown>]>([
  ['the builder', async (person) => await putBuilderUser(platform, trace, builder, person)],
  ['an import', importing],
])('a user who is created disabled, by %s, is told as created and as disabled', async (door, create) => {
  const externalId = `created by ${door}`.replaceAll(' ', '-')
  const email = `${externalId}@example.com`
  await create({ externalId, email, name: 'Sira Ó Dálaigh', pictureUrl: null, status: 'disabled' })
  const created = await q.users.byExternalId(externalId)
  expect(created).toMatchObject({ email, status: 'disabled' })
  expect(await actionsOn(created?.id ?? '')).toEqual(['user.created', 'user.disabled'])
})

/** What the builder has answered to a browser that asked to sign in. */
const answered = async () => {
  const serverKey = new Uint8Array(32)
  const requestKey = rowKey(platform.random.uuid(platform.clock.now()))
  const { externalId } = await stated(user.id)
  const said = { request: signInRequest(serverKey, requestKey), serverKey, externalId, wasAsked: true }
  const { redirectTo } = await answerSignIn(platform, trace, builder, said)
  return { key: requestKey, verifier: new URL(redirectTo).searchParams.get('verifier') ?? '', agent: null }
}

describe.each<[door: string, change: (status: 'active' | 'disabled') => Promise<unknown>]>([
  ['the desk', async (status) => await setUserStatus(platform, trace, operator, { email: user.email, status })],
  [
    'the builder',
    async (status) => await putBuilderUser(platform, trace, builder, { ...(await stated(user.id)), status }),
  ],
  ['an import', async (status) => await importing({ ...(await stated(user.id)), status })],
  [
    'an import that changes the address too',
    async (status) => await importing({ ...(await stated(user.id)), email: `imported-${user.email}`, status }),
  ],
])('a user who is disabled by %s', (_, change) => {
  test('loses sessions, links and sign-ins on their way for good, and each change is recorded once', async () => {
    const came = await answered()
    const session = await signIn(platform, trace, user)
    const { link } = await createResetLink(platform, trace, operator, user.id)
    await change('disabled')
    await change('disabled')
    await change('active')
    await change('active')
    expect(await authenticateSession(platform, session.sessionToken)).toBeNull()
    expect(await refusalOf(openPasswordLink(platform, trace, secretOf(link)))).toBe('version_not_eligible')
    expect(await refusalOf(completeSignIn(platform, trace, came))).toBe('invalid_login')
    const changes = (await actionsOn(user.id)).filter((action) => /^user\.(?:dis|en)abled$/.test(action))
    expect(changes).toEqual(['user.disabled', 'user.enabled'])
  })
})
