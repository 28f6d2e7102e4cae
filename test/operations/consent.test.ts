import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { builtInScopes } from '../../src/domain/scope.ts'
import { join } from 'node:path'
import {
  authorizationQueryOf,
  type AuthorizationRequest,
  readAuthorizationParameters,
} from '../../src/domain/authorization-request.ts'
import { type RowKey, rowKey } from '../../src/domain/identifier.ts'
import { challengeOf } from '../../src/domain/pkce.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { listAuditEvents } from '../../src/operations/audit/read-audit.ts'
import { type Consent, decideConsent, prepareConsent } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { revokeByUser } from '../../src/operations/oauth/revoke.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { signIn } from '../support/sign-in.ts'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import { authenticateSession, type SessionCaller } from '../../src/operations/authenticate.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { moveThrough, submitVersion } from '../support/version.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login, verifier } from '../support/world.ts'

let platform: Platform
let user: Login
let app: AppInWorld
let session: SessionCaller

beforeEach(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'consent.db'))
  user = await addUser(platform)
  app = await addApp(platform, await addUser(platform, 'Grace Publisher'))
  session = await sessionOf(user)
})
afterEach(async () => await platform.database.close())

const sessionOf = async (login: Login): Promise<SessionCaller> => {
  const caller = await authenticateSession(platform, (await signIn(platform, trace, login)).sessionToken)
  if (caller === null) throw new Error('not signed in')
  return caller
}
const requestWith = (change: Partial<AuthorizationRequest> = {}): AuthorizationRequest => ({
  clientId: app.development.clientId,
  redirectUri: app.redirectUri,
  scope: 'profile:read site:read',
  state: 'af0ifjsldkj',
  codeChallenge: challengeOf(verifier),
  codeChallengeMethod: 'S256',
  ...change,
})
const prepare = async (change: Partial<AuthorizationRequest> = {}, who: SessionCaller | null = session, more = '') =>
  await prepareConsent(platform, who, readAuthorizationParameters(authorizationQueryOf(requestWith(change)) + more))
const consentFor = async (change: Partial<AuthorizationRequest> = {}): Promise<Consent> => {
  const step = await prepare(change)
  if (step.kind !== 'ask') throw new Error(step.kind)
  return step.consent
}
const answerIn = (step: Awaited<ReturnType<typeof prepare>>) =>
  step.kind === 'answer' ? Object.fromEntries(new URL(step.redirectTo).searchParams) : { error: step.kind }

const ticket = (): RowKey => rowKey(platform.random.uuid(platform.clock.now()))
const settle = async (answer: 'allow' | 'deny', change: Partial<AuthorizationRequest> = {}, key = ticket()) =>
  await decideConsent(platform, trace, session, { request: requestWith(change), answer, ticket: key })
const codeOf = async (answer: Promise<unknown>): Promise<unknown> =>
  await answer.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
const grantsOfUser = async () => await platform.database.queries.personal.rows('grants', user.id)
const actions = async () =>
  (await listAuditEvents(platform, { slug: app.slug, since: 0, limit: 50 })).map(({ action }) => action)

describe('before the user is asked', () => {
  test('an unknown client and another client’s redirect URI are refused without a redirect', async () => {
    const other = await addApp(platform, user)
    expect(await codeOf(prepare({ clientId: 'apc_dev_0000000000000000000000' }))).toBe('invalid_client')
    for (const redirectUri of [other.redirectUri, app.liveRedirectUri, `${app.redirectUri}/`, `${app.redirectUri}?a`]) {
      expect(await codeOf(prepare({ redirectUri }))).toBe('invalid_redirect_uri')
    }
    const parameters = authorizationQueryOf(requestWith())
    const twice = async (more: string) =>
      await prepareConsent(platform, session, readAuthorizationParameters(parameters + more))
    expect(await codeOf(twice(`&client_id=${app.development.clientId}`))).toBe('invalid_client')
    expect(await codeOf(twice(`&redirect_uri=${encodeURIComponent(app.redirectUri)}`))).toBe('invalid_redirect_uri')
  })

  test('every other fault redirects to the verified URI, with state and issuer', async () => {
    expect(answerIn(await prepare({ scope: 'profile:read nothing' }))).toEqual({
      error: 'invalid_scope',
      error_description: expect.stringMatching(/^Scope 2 in the list does not exist\. There are: /),
      state: 'af0ifjsldkj',
      iss: 'http://localhost',
    })
    expect(answerIn(await prepare({ scope: 'customers:read' }))).toMatchObject({ error: 'invalid_scope' })
    expect(answerIn(await prepare({ codeChallengeMethod: 'plain' }))).toMatchObject({ error: 'invalid_request' })
    expect(answerIn(await prepare({ state: 'x'.repeat(2049) }))).not.toHaveProperty('state')
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
    expect(answerIn(await prepare())).toMatchObject({ error: 'unauthorized_client', state: 'af0ifjsldkj' })
  })

  test('an unregistered scope redirects with an error', async () => {
    app = await addApp(platform, user, 'profile:read')
    expect(answerIn(await prepare())).toMatchObject({ error: 'invalid_scope' })
  })

  test('a visitor signs in after the checks; prompt=none shows no page', async () => {
    expect(await prepare({ scope: 'site:read  profile:read site:read' }, null)).toEqual({
      kind: 'sign_in',
      request: requestWith(),
    })
    const told = { kind: 'tell', redirectTo: expect.stringContaining('state=af0ifjsldkj') }
    const refused = async (error: string, ...asked: Parameters<typeof prepare>) =>
      expect(await prepare(...asked)).toMatchObject({ ...told, error: { error } })
    await refused('login_required', {}, null, '&prompt=none')
    await refused('consent_required', {}, session, '&prompt=none')
    await refused('invalid_scope', { scope: 'nothing' }, null, '&prompt=none')
    await refused('invalid_scope', { scope: 'nothing' }, null)
  })
})

describe('the consent page', () => {
  test('names the app, its publisher and the exact scopes', async () => {
    expect(await prepare({ scope: 'site:read profile:read site:read' })).toMatchObject({ request: requestWith() })
    expect(await consentFor({ scope: 'site:read profile:read site:read' })).toEqual({
      appId: expect.stringMatching(/^app_/),
      appName: 'Newsletter',
      publisher: 'Grace Publisher',
      icon: null,
      environment: 'development',
      facts: null,
      catalogue: builtInScopes,
      scopes: [
        { name: 'profile:read', isNew: false },
        { name: 'site:read', isNew: false },
      ],
      isKnown: false,
    })
  })

  test('shows what the live version says about the app, and nothing that nobody has reviewed', async () => {
    const live = { clientId: app.production.clientId, redirectUri: app.liveRedirectUri, scope: 'site:read' }
    const upload = async (version: string, description: string) =>
      await submitVersion(platform, app, {
        version,
        manifest: {
          name: app.slug,
          description,
          websiteUrl: 'https://newsletter.example',
          supportUrl: 'mailto:help@newsletter.example',
        },
      })
    await upload('1.0.0', 'Letters')
    expect((await consentFor(live)).facts).toBeNull()
    await moveThrough(platform, app, '1.0.0', 'approve', 'activate')
    await upload('2.0.0', 'Not reviewed')
    expect((await consentFor(live)).facts).toEqual({
      description: 'Letters',
      websiteUrl: 'https://newsletter.example',
      supportUrl: 'mailto:help@newsletter.example',
      privacyUrl: null,
    })
    expect((await consentFor({ scope: 'site:read' })).facts).toBeNull()
  })

  test('marks new scopes if the client already has access', async () => {
    const { issued } = await settle('allow')
    const live = { clientId: app.production.clientId, redirectUri: app.liveRedirectUri }
    const marked = async (change: Partial<AuthorizationRequest>) =>
      (await consentFor(change)).scopes.filter(({ isNew }) => isNew).map(({ name }) => name)
    expect(await marked({ scope: 'profile:read site:read store:read' })).toEqual(['store:read'])
    expect(await marked({})).toEqual([])
    expect((await consentFor()).isKnown).toBe(true)
    expect((await consentFor(live)).isKnown).toBe(false)
    await revokeByUser(platform, trace, session, issued?.grantId ?? '')
    expect((await consentFor({ scope: 'store:read' })).isKnown).toBe(false)
  })

  test('ignores grants of other users and revoked grants', async () => {
    await settle('allow')
    session = await sessionOf(await addUser(platform))
    expect((await consentFor()).isKnown).toBe(false)
    session = await sessionOf(user)
    expect((await consentFor()).isKnown).toBe(true)
    platform = { ...platform, clock: { ...platform.clock, now: () => Date.now() + 301_000 } } // the code was never exchanged
    expect((await consentFor()).isKnown).toBe(false)
  })
})

describe('a decision', () => {
  test('to allow issues a working code', async () => {
    const { redirectTo, issued } = await settle('allow')
    const target = new URL(redirectTo)
    expect(target.origin + target.pathname).toBe(app.redirectUri)
    expect([...target.searchParams.keys()].toSorted()).toEqual(['code', 'iss', 'state'])
    const code = target.searchParams.get('code') ?? ''
    expect(issued?.code).toBe(code)
    const tokens = await exchangeCode(
      platform,
      trace,
      { ...app.development, code, redirectUri: app.redirectUri, codeVerifier: verifier },
      null,
    )
    expect(tokens.scope).toBe('profile:read site:read')
  })

  test('to deny is reported to the app and in the audit, and issues nothing', async () => {
    const { redirectTo, issued } = await settle('deny')
    expect(issued).toBeNull()
    expect(Object.fromEntries(new URL(redirectTo).searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'The user did not allow the access.',
      state: 'af0ifjsldkj',
      iss: 'http://localhost',
    })
    expect(await grantsOfUser()).toEqual([])
    expect(await actions()).toContain('grant.denied')
    expect(await actions()).not.toContain('grant.created')
  })

  for (const first of ['allow', 'deny'] as const) {
    for (const second of ['allow', 'deny'] as const) {
      test(`of ${first} spends the ticket for ${second}`, async () => {
        const key = ticket()
        await settle(first, {}, key)
        const before = (await grantsOfUser()).length
        expect(await codeOf(settle(second, {}, key))).toBe('idempotency_key_reused')
        expect((await grantsOfUser()).length).toBe(before)
      })
    }
  }

  test('is accepted once when many arrive at the same time', async () => {
    const key = ticket()
    const answers = await Promise.all(Array.from({ length: 100 }, async () => await codeOf(settle('allow', {}, key))))
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1)
    expect(await grantsOfUser()).toHaveLength(1)
  })

  test('is accepted once when an allow and a deny race', async () => {
    const key = ticket()
    const answers = await Promise.all([codeOf(settle('deny', {}, key)), codeOf(settle('allow', {}, key))])
    expect(answers.toSorted()).toEqual(['done', 'idempotency_key_reused'])
    expect(await grantsOfUser()).toEqual([])
  })

  test('is refused once the session has ended', async () => {
    await signOut(platform, trace, session)
    for (const answer of ['allow', 'deny'] as const) expect(await codeOf(settle(answer))).toBe('login_required')
    expect(await grantsOfUser()).toEqual([])
  })

  test('issues nothing for an app that was suspended since, and tells the app', async () => {
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
    for (const answer of ['allow', 'deny'] as const) {
      const { redirectTo, issued } = await settle(answer)
      expect(issued).toBeNull()
      expect(new URL(redirectTo).searchParams.get('error')).toBe('unauthorized_client')
      expect(new URL(redirectTo).searchParams.get('iss')).toBe('http://localhost')
    }
    expect(await grantsOfUser()).toEqual([])
  })

  test('does not redirect to a URI that was removed since', async () => {
    await removeRedirectUri(platform, trace, operator, {
      slug: app.slug,
      environment: 'development',
      uri: app.redirectUri,
    })
    for (const answer of ['allow', 'deny'] as const) expect(await codeOf(settle(answer))).toBe('invalid_redirect_uri')
    expect(await grantsOfUser()).toEqual([])
  })
})
