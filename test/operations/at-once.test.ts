import { beforeEach, expect, test } from 'bun:test'
import { rowKey } from '../../src/domain/identifier.ts'
import { challengeOf } from '../../src/domain/pkce.ts'
import {
  authenticateEmbeddedSession,
  authenticateSession,
  type SessionCaller,
} from '../../src/operations/authenticate.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { endAppAccess, endUserAccess } from '../../src/operations/end-access.ts'
import { createInstall, agreeToScopes, endInstall } from '../../src/operations/installs/installs.ts'
import { authorize, decideConsent } from '../../src/operations/oauth/authorize.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import { signIn } from '../support/sign-in.ts'
import { changePassword, resetPassword } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { addEmbeddedInstall, addEmbeddedVersion, embedOrigin, scopesIn } from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
// Connections for several transactions, so that the second one does not have to open its own first.
await Promise.all(
  [1, 2, 3].map(
    async () => await platform.database.transaction(async (q) => await q.users.byId('nobody'), { kind: 'guarded' }),
  ),
)

let user: Login
let app: AppInWorld
let caller: SessionCaller
beforeEach(async () => {
  user = await addUser(platform)
  app = await addApp(platform, await addUser(platform, 'Dora Developer'))
  caller = await sessionOf(platform, user)
})

/** Enough for the second operation to get as far as it can before the first one commits. */
const readsMeanwhile = 300

/**
 * Runs the first operation. When its last transaction has done everything and has not committed, the second operation begins.
 * PostgreSQL runs both at once; SQLite runs the second one afterwards.
 */
const during = async <A, B>(first: (on: Platform) => Promise<A>, second: () => Promise<B>) => {
  const later: { answer: Promise<B> | null } = { answer: null }
  const { database } = platform
  const transaction: Platform['database']['transaction'] = async (work, options) =>
    await database.transaction(async (q) => {
      const value = await work(q)
      later.answer ??= second()
      for (let read = 0; read < readsMeanwhile; read += 1) await q.apps.bySlug('nobody')
      return value
    }, options)
  const on = {
    ...platform,
    database: new Proxy(database, {
      get: (store, name) => (name === 'transaction' ? transaction : Reflect.get(store, name)),
    }),
  }
  const outcome = await first(on)
  if (later.answer === null) throw new Error('the first operation has no transaction')
  return [outcome, await later.answer] as const
}

const next = 'a much better password'
const enter = async (on = platform) => (await signIn(on, trace, user)).sessionToken
const reset = async (on = platform) => await resetPassword(on, trace, operator, { userId: user.id, password: next })
const disable = async (on = platform) =>
  await setUserStatus(on, trace, operator, { email: user.email, status: 'disabled' })
const enable = async () => await setUserStatus(platform, trace, operator, { email: user.email, status: 'active' })
const works = async (sessionToken: string) => (await authenticateSession(platform, sessionToken)) !== null
const openGrants = async () =>
  (await platform.database.queries.personal.rows('grants', user.id)).filter(({ revokedAt }) => revokedAt === null)
    .length

const request = () => ({
  clientId: app.development.clientId,
  redirectUri: app.redirectUri,
  scope: 'profile:read site:read',
  state: 'af0ifjsldkj',
  codeChallenge: challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'),
  codeChallengeMethod: 'S256',
})
const consent = async (on = platform) => await authorize(on, trace, caller, request(), true)

test('a session of a sign-in under way does not survive a reset of the password', async () => {
  const [sessionToken] = await during(enter, reset)
  expect(await works(sessionToken)).toBe(false)
})

test('a sign-in with the old password while it is reset is refused', async () => {
  const [, answer] = await during(reset, async () => await refusalOf(enter()))
  expect(answer).toBe('invalid_login')
})

test('a session of a sign-in under way does not survive a change of the password by its user', async () => {
  const passwords = { current: user.password, next, repeated: next }
  const [sessionToken, changed] = await during(
    enter,
    async () => await changePassword(platform, trace, caller, passwords),
  )
  expect([await works(sessionToken), await works(changed.sessionToken)]).toEqual([false, true])
})

test('a session of a sign-in under way does not survive the suspension of its user, also not once it ends', async () => {
  const [sessionToken, { ended }] = await during(enter, disable)
  expect(ended.sessions).toBe(2)
  await enable()
  expect(await works(sessionToken)).toBe(false)
})

test('a sign-in while its user is disabled is refused', async () => {
  const [, answer] = await during(disable, async () => await refusalOf(enter()))
  expect(answer).toBe('invalid_login')
})

test('a consent under way while its user is disabled is counted, and one that comes later is refused', async () => {
  const [, { stopped }] = await during(consent, disable)
  expect(stopped.grants).toBe(1)
  await enable()
  caller = await sessionOf(platform, user)
  const [, answer] = await during(disable, async () => await refusalOf(consent()))
  expect([answer, await openGrants()]).toEqual(['login_required', 1])
})

test('no grant of a consent under way survives the end of all access of its user', async () => {
  const end = async (on = platform) => await endUserAccess(on, trace, operator, user)
  const [, { ended }] = await during(consent, end)
  expect([ended.grants, await openGrants()]).toEqual([1, 0])
  caller = await sessionOf(platform, user)
  const [, answer] = await during(end, async () => await refusalOf(consent()))
  expect([answer, await openGrants()]).toEqual(['login_required', 0])
})

test('a consent while its session signs out is refused', async () => {
  const [, answer] = await during(
    async (on) => await signOut(on, trace, caller),
    async () => await refusalOf(consent()),
  )
  expect(answer).toBe('login_required')
})

test('of two consents at once with one ticket one gives a code', async () => {
  const ticket = rowKey(platform.random.uuid(platform.clock.now()))
  const decide = async (on: Platform) =>
    await decideConsent(on, trace, caller, { request: request(), answer: 'allow', ticket })
  const [{ issued }, answer] = await during(decide, async () => await refusalOf(decide(platform)))
  expect([issued === null, answer, await openGrants()]).toEqual([false, 'idempotency_key_reused', 1])
})

test('two consents at once with tickets of their own give two codes', async () => {
  const [first, second] = await during(consent, consent)
  expect(first.grantId).not.toBe(second.grantId)
  expect(await openGrants()).toBe(2)
})

test('an agreement to scopes while the install ends changes nothing', async () => {
  const id = await addEmbeddedInstall(platform, app, user)
  await addEmbeddedVersion(platform, app, { version: '2.0.0', scopes: scopesIn('profile:read') })
  const end = async (on: Platform) => await endInstall(on, trace, operator, id)
  const agreement = { id, agreedTo: scopesIn('profile:read') }
  const before = (await platform.database.queries.installs.find(id))?.install.scopes
  const [step, answer] = await during(
    end,
    async () => await refusalOf(agreeToScopes(platform, trace, operator, agreement)),
  )
  const after = (await platform.database.queries.installs.find(id))?.install
  expect([step, answer]).toEqual(['deactivate', 'invalid_request'])
  expect(after).toMatchObject({ state: 'inactive', scopes: before })
})

test('of two installs at once on one website the second is refused', async () => {
  await addEmbeddedVersion(platform, app)
  const place = { slug: app.slug, userEmail: user.email, kind: 'site', resourceSlug: 'my-site' } as const
  const install = async (on: Platform) => await createInstall(on, trace, operator, place)
  const [, answer] = await during(install, async () => await refusalOf(install(platform)))
  expect(answer).toBe('invalid_request')
})

const openFrame = async () => {
  const install = await addEmbeddedInstall(platform, app, user)
  const { code } = await issueInstallSessionCode(platform, trace, caller, install)
  const exchange = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
  return async (on: Platform, address = 'local') =>
    await exchangeInstallSessionCode(on, { ...trace, address }, exchange)
}
const embedded = async (sessionToken: string) =>
  (await authenticateEmbeddedSession(platform, sessionToken)).caller !== null

test('a session in a frame of an exchange under way does not survive the end of all access of its app', async () => {
  const exchange = await openFrame()
  const [{ sessionToken }] = await during(exchange, async () => await endAppAccess(platform, trace, operator, app.slug))
  expect(await embedded(sessionToken)).toBe(false)
})

test('a second use of an install-session code ends the session of the first one under way', async () => {
  const exchange = await openFrame()
  const [{ sessionToken }, answer] = await during(
    exchange,
    async () => await refusalOf(exchange(platform, '192.0.2.9')),
  )
  expect([answer, await embedded(sessionToken)]).toEqual(['invalid_grant', false])
})
