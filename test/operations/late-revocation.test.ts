import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { challengeOf } from '../../src/domain/pkce.ts'
import { authorize, denyAuthorization } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { revokeByToken } from '../../src/operations/oauth/revoke.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import { revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { actingAsApp } from '../../src/operations/acting-as.ts'
import { decide } from '../../src/operations/decide.ts'
import { actorOf, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { rollBackVersion } from '../../src/operations/versions/move-version.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, exchangeBody, type Login, verifier } from '../support/world.ts'
import { developmentCaller, refusalOf, sessionOf, uploadVersion } from './support/owner.ts'

// A caller is authenticated before its transaction. If its session or token ends in between, the transaction must still
// refuse it.

let platform: Platform
let user: Login
let app: AppInWorld
beforeAll(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'late.db'))
  user = await addUser(platform)
})
beforeEach(async () => {
  app = await addApp(platform, user)
})
afterAll(async () => await platform.database.close())

const request = () => ({
  clientId: app.development.clientId,
  redirectUri: app.redirectUri,
  scope: 'profile:read',
  state: 'x',
  codeChallenge: challengeOf(verifier),
  codeChallengeMethod: 'S256',
})
/** The events of the app, refusals with their code. */
const trail = async () =>
  (await auditEvents(platform)).map(({ action, reason }) => (reason === null ? action : `${action}: ${reason}`))

test('a session that has just signed out can neither allow nor deny', async () => {
  const session = await sessionOf(platform, user)
  await signOut(platform, trace, session)
  const before = await trail()
  expect(await refusalOf(authorize(platform, trace, session, request(), true))).toBe('login_required')
  expect(await refusalOf(denyAuthorization(platform, trace, session, request()))).toBe('login_required')
  expect(await platform.database.queries.personal.rows('grants', user.id)).toEqual([])
  expect((await trail()).slice(before.length)).toEqual(['bearer.check: login_required', 'bearer.check: login_required'])
})

test('a token that was just revoked can neither create nor roll back a version', async () => {
  await uploadVersion(platform, app, '1.0.0')
  await uploadVersion(platform, app, '2.0.0')
  const caller = await developmentCaller(platform, app)
  await revokeByToken(platform, trace, caller)
  const upload = { version: '3.0.0', notes: null, manifest: {}, scopes: [], artifact: null }
  expect(await refusalOf(createVersion(platform, trace, caller, upload, null))).toBe('invalid_token')
  const back = { target: null, environment: 'development' as const, reason: null, dryRun: false }
  expect(await refusalOf(rollBackVersion(platform, trace, caller, back, null))).toBe('invalid_token')
  expect(await platform.database.queries.versions.byName(app.id, '3.0.0')).toBeNull()
  const head = (await platform.database.queries.apps.byId(app.id))?.developmentVersionId
  expect(head).toBe((await platform.database.queries.versions.byName(app.id, '2.0.0'))?.id)
})

test('a caller whose row was just purged can do nothing', async () => {
  const session = await sessionOf(platform, user)
  const caller = await developmentCaller(platform, app)
  const over = platform.clock.now() + 13 * 3_600_000
  await platform.database.transaction(async (q) => {
    await q.expiring.remove('sessions', over, 250)
    await q.appTokens.purge(over, over, 250)
  })
  expect(await refusalOf(authorize(platform, trace, session, request(), true))).toBe('login_required')
  const upload = { version: '1.0.0', notes: null, manifest: {}, scopes: [], artifact: null }
  expect(await refusalOf(createVersion(platform, trace, caller, upload, null))).toBe('invalid_token')
})

test('a token whose grant was just purged counts as revoked', async () => {
  const { code } = await authorize(platform, trace, await sessionOf(platform, user), request(), true)
  const { accessToken } = await exchangeCode(platform, trace, exchangeBody(app, code), null)
  const caller = await authenticateUserToken(platform, accessToken)
  if (caller === null) throw new Error('the token does not live')
  const over = platform.clock.now() + 60 * 24 * 3_600_000
  await platform.database.transaction(async (q) => await q.grants.purgeFamily(caller.grantId, over, 250))
  const before = await trail()
  expect(await refusalOf(revokeByToken(platform, trace, caller))).toBe('done')
  expect(await trail()).toEqual(before)
})

test('a token that was just revoked can change nothing through actingAsApp', async () => {
  const caller = await developmentCaller(platform, app)
  const acting = actingAsApp(platform, trace, caller, async () => null)
  const change = async () => await decide(acting, trace, { actor: actorOf(caller) }, async () => 'done')
  expect(await change()).toBe('done')
  for (const { id } of await platform.database.queries.credentials.listByClient(app.development.clientId))
    await revokeCredential(platform, trace, operator, id)
  const before = await trail()
  expect(await refusalOf(change())).toBe('invalid_token')
  expect((await trail()).slice(before.length)).toEqual(['bearer.check: invalid_token'])
})
