import { expect, test } from 'bun:test'
import { rowKey } from '../../src/domain/identifier.ts'
import {
  actingAs,
  actingWithKey,
  isOperator,
  mayInActiveApp,
  mayInApp,
  mayRename,
  type Rule,
  ruleOfOperator,
} from '../../src/operations/acting-as.ts'
import { addMember, mayChangeMember } from '../../src/operations/apps/members.ts'
import { ownsCredential } from '../../src/operations/credentials/credentials.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { endIssued } from '../../src/operations/end-access.ts'
import { moveBuilderInstall } from '../../src/operations/installs/lists.ts'
import {
  deleteBuilderResource,
  findBuilderResource,
  putBuilderResource,
} from '../../src/operations/resources/resources.ts'
import { authenticateServiceKey, authenticateSession, type SessionCaller } from '../../src/operations/authenticate.ts'
import { createServiceKey, revokeServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { endBuilderUserAccess, linkUser, sparingOperators, setOperator } from '../../src/operations/users/users.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { createApp, deleteApp, setAppStatus } from '../../src/operations/apps/apps.ts'
import { signIn } from '../support/sign-in.ts'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, installApp, type Login } from '../support/world.ts'

const platform = await platformOfFile()
const user = await addUser(platform)

const sessionOf = async (login: Login): Promise<SessionCaller> => {
  const { sessionToken } = await signIn(platform, trace, login)
  const caller = await authenticateSession(platform, sessionToken)
  if (caller === null) throw new Error('the session does not live')
  return caller
}
const ticket = () => rowKey(platform.random.uuid(platform.clock.now()))
const create = async (acting: Platform, slug: string) =>
  await createApp(
    acting,
    trace,
    { kind: 'user', id: user.id },
    {
      ownerEmail: user.email,
      name: 'App',
      slug,
      scopes: 'site:read',
    },
  )
const isThere = async (slug: string) => (await platform.database.queries.apps.bySlug(slug)) !== null
const refusals = async () => (await auditEvents(platform)).filter(({ outcome }) => outcome === 'refused')

test('a user with the right may act', async () => {
  await create(actingAs(platform, trace, await sessionOf(user), { ticket: ticket() }), 'allowed')
  expect(await isThere('allowed')).toBe(true)
})

test('a session that ended after it was read changes nothing, and its refusal is recorded', async () => {
  const session = await sessionOf(user)
  await signOut(platform, trace, session)
  const before = (await refusals()).length
  const attempt = create(actingAs(platform, trace, session), 'too-late')
  await expect(attempt).rejects.toMatchObject({ code: 'login_required' })
  expect(await isThere('too-late')).toBe(false)
  expect((await refusals()).length).toBe(before + 1)
})

test('of 50 calls with the same ticket one acts', async () => {
  const session = await sessionOf(user)
  const authority = { ticket: ticket() }
  const calls = await Promise.allSettled(
    Array.from(
      { length: 50 },
      async (_, n) => await create(actingAs(platform, trace, session, authority), `once-${n}`),
    ),
  )
  expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const refused = calls.filter((call) => call.status === 'rejected')
  expect(new Set(refused.map(({ reason }) => reason.code))).toEqual(new Set(['idempotency_key_reused']))
})

test('to a user the apps of others do not exist, and without operator rights the desk does not', async () => {
  const app = await addApp(platform, user)
  const stranger = await addUser(platform, 'Mallory')
  const session = await sessionOf(stranger)
  for (const may of [mayInApp(app.slug, 'view'), mayInApp('nowhere', 'view'), isOperator]) {
    const before = (await refusals()).length
    await expect(create(actingAs(platform, trace, session, { may }), 'stolen')).rejects.toMatchObject({ status: 404 })
    expect((await refusals()).length).toBe(before + 1)
  }
  expect(await isThere('stolen')).toBe(false)
  expect(await platform.database.transaction((q) => mayInApp(app.slug, 'view')(q, user.id))).toBeNull()
})

test('a rule about an app lets operators do all that its owners may, until the app is deleted, and other users nothing more', async () => {
  const app = await addApp(platform, user)
  const { slug } = app
  const boss = await addUser(platform, 'Olive Operator')
  await setOperator(platform, trace, operator, { userId: boss.id, isOperator: true })
  const member = await addUser(platform, 'Mia Member')
  await addMember(platform, trace, operator, { slug, email: member.email, role: 'developer' })
  const [secret] = await platform.database.queries.credentials.liveOfClient(app.production.clientId, Date.now())
  const rules: readonly Rule[] = [
    mayInApp(slug, 'delete'),
    mayInActiveApp(slug, 'settings'),
    mayRename(slug),
    mayChangeMember(slug, member.id, 'owner'),
    ownsCredential(slug, secret?.id ?? ''),
  ]
  const askedAs = async (login: Login, asks: (rule: Rule) => Rule): Promise<readonly string[]> =>
    await Promise.all(rules.map(async (rule) => (await asks(rule)(platform.database.queries, login.id))?.code ?? 'may'))
  const all = (word: string) => rules.map(() => word)
  expect(await askedAs(boss, ruleOfOperator)).toEqual(all('may'))
  expect(await askedAs(boss, (rule) => rule)).toEqual(all('route_not_found'))
  expect(await askedAs(member, ruleOfOperator)).toEqual(all('route_not_found'))
  expect(await askedAs(member, (rule) => rule)).toEqual(all('right_missing'))
  await setAppStatus(platform, trace, operator, { slug, status: 'suspended' })
  expect(await askedAs(boss, ruleOfOperator)).toEqual(all('may'))
  const { slug: other } = await addApp(platform, user)
  expect(
    (await ruleOfOperator(ownsCredential(other, secret?.id ?? ''))(platform.database.queries, boss.id))?.code,
  ).toBe('route_not_found')
  await deleteApp(platform, trace, operator, slug)
  expect(await askedAs(boss, ruleOfOperator)).toEqual(all('route_not_found'))
})

test('a service key that was revoked after it was read changes nothing, and its refusal is recorded', async () => {
  const input = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
  const key = await createServiceKey(platform, trace, operator, input)
  const caller = await authenticateServiceKey(platform, trace, key.secret)
  if (caller === null) throw new Error('the key does not live')
  const actor = { kind: 'service', id: caller.id } as const
  const member = await addUser(platform)
  await linkUser(platform, trace, operator, { email: member.email, externalId: 'member' })
  const place = { kind: 'site', externalId: 'shop' } as const
  const stated = { ...place, ownerExternalId: 'member', name: 'Shop', slug: 'shop', status: 'published' } as const
  await putBuilderResource(platform, trace, operator, { ...stated, createdAt: null, updatedAt: null })
  const install = await installApp(platform, await addApp(platform, user), member)
  const state = async () => ({
    user: await platform.database.queries.users.byId(member.id),
    place: await findBuilderResource(platform, place),
    install: await platform.database.queries.installs.find(install),
  })
  const before = await state()
  await revokeServiceKey(platform, trace, operator, key.id)
  const recorded = (await refusals()).length
  const acting = actingWithKey(platform, trace, caller)
  const attempts = [
    async () => await eraseUser(acting, trace, actor, { externalId: 'member' }),
    async () => await endBuilderUserAccess(acting, trace, actor, { externalId: 'member', only: null }),
    async () => await deleteBuilderResource(acting, trace, actor, place),
    async () => await moveBuilderInstall(acting, trace, actor, { id: install, step: 'deactivate' }),
  ]
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'invalid_token' })
  expect(await state()).toEqual(before)
  expect((await refusals()).length).toBe(recorded + attempts.length)
})

test('a user who has become an operator keeps everything, though a service key was about to end it', async () => {
  const member = await addUser(platform)
  const sparing = sparingOperators(platform, member.id)
  const session = await sessionOf(member)
  await setOperator(platform, trace, operator, { userId: member.id, isOperator: true })
  const attempt = endIssued(sparing, trace, operator, { kind: 'user', userId: member.id })
  await expect(attempt).rejects.toMatchObject({ code: 'operator_protected' })
  const kept = await platform.database.queries.sessions.find(session.sessionKey)
  expect(kept?.session.endedAt).toBeNull()
})
