import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { timeKeyInDigits } from '../../src/domain/time-key.ts'
import type { AuditEvent } from '../../db/database.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { createCredential, revokeCredential, rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { addRedirectUri, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'
import { auditEvents } from '../support/audit-events.ts'
import { type Answer, call, codeOf } from '../support/call.ts'
import { crash, together } from '../support/crash.ts'
import { basic, sendForm } from '../flows/support/standard.ts'
import { operator, trace } from '../support/operator.ts'
import { runProgram } from '../support/run-program.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  appToken,
  authorizeBody,
  createWorld,
  endWorld,
  exchangeBody,
  grantTokens,
  installApp,
  type Login,
  refreshBody,
  signIn,
  type Tokens,
  type World,
} from '../support/world.ts'
import { sessionCookieOf } from '../support/cookie.ts'

let world: World
let session: string
beforeAll(async () => {
  world = await createWorld()
  session = await signIn(world.server.url, world.user)
})
afterAll(async () => await endWorld(world))

const send = async (
  method: string,
  path: string,
  body?: unknown,
  token?: string,
  headers: Record<string, string> = {},
) =>
  await call(world.server.url, method, path, {
    headers,
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  })

const allEvents = async (): Promise<AuditEvent[]> => await auditEvents(world.platform)
const rowsOf = async (requestId: string): Promise<AuditEvent[]> =>
  (await allEvents()).filter((event) => event.requestId === requestId)

/** The rows of an answer, without what every row has of its own. */
const rowOf = async (answer: Answer) => (await rowsOf(answer.headers.get('x-request-id') ?? ''))[0]
const told = async (answer: Answer) => {
  const rows = await rowsOf(answer.headers.get('x-request-id') ?? '')
  return rows.map(({ id, at, detail, requestId, address, ...rest }) => {
    expect(id).toMatch(/^aud_[0-9a-f]{32}$/)
    expect(requestId).toMatch(/^req_[0-9a-f]{32}$/)
    expect(address).toBe('127.0.0.1')
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000)
    if (detail !== null) expect(typeof JSON.parse(detail)).toBe('object')
    return rest
  })
}

const byApp = ({ development, id }: AppInWorld) =>
  ({ actorKind: 'app', actorId: development.clientId, appId: id, environment: 'development' }) as const
const byUser = (user: Login) => ({ actorKind: 'user', actorId: user.id }) as const
const byNobody = { actorKind: 'anonymous', actorId: null } as const
const nowhere = { appId: null, environment: null } as const
const of = ({ id }: AppInWorld) => ({ appId: id, environment: 'development' }) as const
const done = { outcome: 'done', reason: null } as const
const refusedWith = (reason: string) => ({ outcome: 'refused', reason }) as const

/** Of the row that a secret belongs to. */
const keyOf = (token: string): number => timeKeyInDigits(token.slice(5, 27)) ?? -1
const credentialOf = async (token: string): Promise<string> =>
  (await world.platform.database.queries.appTokens.find(keyOf(token)))?.credentialId ?? ''
const freshCode = async (): Promise<{ code: string; grantId: string }> => {
  const answer = await send('POST', '/oauth/authorize', authorizeBody(world.app), session)
  const rows = await rowsOf(answer.headers.get('x-request-id') ?? '')
  return { code: answer.body.code, grantId: rows[0]?.target ?? '' }
}
const wrongSecret = (secret: string) => `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`

describe('every change over HTTP leaves exactly its audit events:', () => {
  test('an app token issued', async () => {
    const answer = await send('POST', '/token', { ...world.app.development, scope: 'site:read' })
    const target = await credentialOf(answer.body.accessToken)
    expect(target).toMatch(/^crd_/)
    expect(await told(answer)).toEqual([{ ...byApp(world.app), action: 'app_token.issued', target, ...done }])
  })

  test('a sign-in and a sign-out', async () => {
    const { email, password } = world.user
    const signedIn = await send('POST', '~/api/session', { email, password })
    const target = signedIn.body.sessionToken.slice(5, 27)
    expect(await told(signedIn)).toEqual([
      { ...byUser(world.user), ...nowhere, action: 'session.created', target, ...done },
    ])
    const signedOut = await send('DELETE', '~/api/session', undefined, signedIn.body.sessionToken)
    expect(await told(signedOut)).toEqual([
      { ...byUser(world.user), ...nowhere, action: 'session.ended', target, ...done },
    ])
  })

  test('a consent, an exchange, a refresh, and its permitted retry', async () => {
    const consent = await send('POST', '/oauth/authorize', authorizeBody(world.app), session)
    const rows = await told(consent)
    const target = rows[0]?.target ?? ''
    expect(target).toMatch(/^grt_/)
    expect(rows).toEqual([{ ...byUser(world.user), ...of(world.app), action: 'grant.created', target, ...done }])

    const exchanged = await send('POST', '/oauth/token', exchangeBody(world.app, consent.body.code))
    const issued = [{ ...byApp(world.app), action: 'user_tokens.issued', target, ...done }]
    expect(await told(exchanged)).toEqual(issued)

    const key = { 'Idempotency-Key': 'audited' }
    const body = refreshBody(world.app, exchanged.body.refreshToken)
    const refreshed = await send('POST', '/oauth/token', body, undefined, key)
    expect(await told(refreshed)).toEqual(issued)
    expect(await told(await send('POST', '/oauth/token', body, undefined, key))).toEqual([
      { ...byApp(world.app), action: 'refresh_token.rotate.repeated', target, ...done },
    ])
  })

  test.each(['client', 'token', 'user'] as const)('a grant revoked by its %s, once', async (by) => {
    const { accessToken, refreshToken, grantId } = await grantTokens(world)
    const revoke = {
      client: async () => await send('POST', '/oauth/revoke', { ...world.app.development, token: refreshToken }),
      token: async () => await send('POST', '/oauth/revoke', {}, accessToken),
      user: async () => await send('POST', '/oauth/revoke', { grantId }, session),
    }[by]
    const actor = by === 'user' ? byUser(world.user) : byApp(world.app)
    expect(await told(await revoke())).toEqual([
      { ...of(world.app), ...actor, action: 'grant.revoked', target: grantId, ...done },
    ])
    const again = await revoke()
    expect(await told(again)).toEqual(
      by === 'token'
        ? [{ ...byNobody, ...of(world.app), action: 'bearer.check', target: grantId, ...refusedWith('invalid_token') }]
        : [],
    )
  })

  test.each(['client', 'token'] as const)('an app token revoked by its %s', async (by) => {
    const issue = await send('POST', '/token', { ...world.app.development, scope: 'site:read' })
    const token = issue.body.accessToken
    const target = await credentialOf(token)
    const answer =
      by === 'client'
        ? await send('POST', '/oauth/revoke', { ...world.app.development, token })
        : await send('POST', '/oauth/revoke', {}, token)
    expect(await told(answer)).toEqual([{ ...byApp(world.app), action: 'app_token.revoked', target, ...done }])
    const [revoked, issued] = [await rowOf(answer), await rowOf(issue)]
    expect(JSON.parse(revoked?.detail ?? '')).toEqual({ issuedIn: issued?.id })
  })

  test('versions created, replaced and rolled back; a retry under the same key and a dry run leave none', async () => {
    const app = await addApp(world.platform, world.user)
    const token = await appToken(world.server.url, app.development)
    const key = { 'Idempotency-Key': 'create' }
    const created = await send('POST', '/versions', { version: '1.0.0' }, token, key)
    const target = created.body.id
    expect(await told(created)).toEqual([{ ...byApp(app), action: 'version.created', target, ...done }])
    expect(await told(await send('POST', '/versions', { version: '1.0.0' }, token, key))).toEqual([])
    const replaced = await send('POST', '/versions', { version: '1.0.0', notes: 'new' }, token)
    expect(await told(replaced)).toEqual([{ ...byApp(app), action: 'version.replaced', target, ...done }])
    await send('POST', '/versions', { version: '1.1.0' }, token)
    expect(await told(await send('POST', '/versions/rollback', { dryRun: true }, token))).toEqual([])
    const rolledBack = await send('POST', '/versions/rollback', {}, token)
    expect(await told(rolledBack)).toEqual([{ ...byApp(app), action: 'version.rolled_back', target, ...done }])
  })
})

/** A wrong secret, a malformed one, another environment's, an unknown client and a malformed one. */
const refusedClients = (app: AppInWorld) => {
  const { clientId, clientSecret } = app.development
  const known = { ...of(app), target: clientId }
  const unknown = { ...nowhere, target: null }
  return [
    [{ clientId, clientSecret: wrongSecret(clientSecret) }, known],
    [{ clientId, clientSecret: 'nonsense' }, known],
    [{ clientId, clientSecret: app.production.clientSecret }, known],
    [{ clientId: `apc_dev_${'0'.repeat(22)}`, clientSecret }, unknown],
    [{ clientId: 'nonsense', clientSecret }, unknown],
  ] as const
}

describe('every refused credential leaves exactly one audit event:', () => {
  test('client credentials, at every endpoint that takes them', async () => {
    for (const [credentials, row] of refusedClients(world.app)) {
      const asked = [
        ['app_token.issue', await send('POST', '/token', { ...credentials, scope: 'site:read' })],
        [
          'authorization_code.exchange',
          await send('POST', '/oauth/token', { ...exchangeBody(world.app, 'apco_x'), ...credentials }),
        ],
        [
          'refresh_token.rotate',
          await send('POST', '/oauth/token', { ...refreshBody(world.app, 'apur_x'), ...credentials }),
        ],
        ['token.revoke', await send('POST', '/oauth/revoke', { ...credentials, token: 'apat_x' })],
      ] as const
      for (const [action, answer] of asked) {
        expect(codeOf(answer)).toBe('invalid_client')
        expect(await told(answer)).toEqual([{ ...byNobody, ...row, action, ...refusedWith('invalid_client') }])
      }
    }
  })

  test('codes: unknown, with a wrong verifier or redirect URI, of another app, and spent', async () => {
    const refusal = { action: 'authorization_code.exchange', ...refusedWith('invalid_grant') }
    const other = await addApp(world.platform, world.user)
    const { code, grantId } = await freshCode()
    const body = exchangeBody(world.app, code)
    const tries = [
      [
        { ...body, code: wrongSecret(code) },
        { ...byApp(world.app), target: null },
      ],
      [
        { ...body, codeVerifier: 'x'.repeat(43) },
        { ...byApp(world.app), target: grantId },
      ],
      [
        { ...body, redirectUri: 'https://elsewhere.example/' },
        { ...byApp(world.app), target: grantId },
      ],
      [
        { ...body, ...other.development },
        { ...byApp(other), target: null },
      ],
    ] as const
    for (const [tried, row] of tries) {
      const answer = await send('POST', '/oauth/token', tried)
      expect(codeOf(answer)).toBe('invalid_grant')
      expect(await told(answer)).toEqual([{ ...row, ...refusal }])
    }
    expect((await send('POST', '/oauth/token', body)).status).toBe(200)
    expect(await told(await send('POST', '/oauth/token', body))).toEqual([
      { ...byApp(world.app), ...refusedWith('invalid_grant'), action: 'grant.reuse_detected', target: grantId },
    ])
  })

  test('a refresh token that is spent, and one of a grant that has ended', async () => {
    const tokens: Tokens = await grantTokens(world)
    const body = refreshBody(world.app, tokens.refreshToken)
    const next: Tokens = (await send('POST', '/oauth/token', body)).body
    await send('POST', '/oauth/token', refreshBody(world.app, next.refreshToken))
    const row = { ...byApp(world.app), target: tokens.grantId, ...refusedWith('invalid_grant') }
    expect(await told(await send('POST', '/oauth/token', body))).toEqual([{ ...row, action: 'grant.reuse_detected' }])
    expect(await told(await send('POST', '/oauth/token', body))).toEqual([{ ...row, action: 'refresh_token.rotate' }])
  })

  test('bearer tokens: never issued, revoked, malformed, of an unknown kind, of another scheme', async () => {
    const revoked = await appToken(world.server.url, world.app.development)
    await send('POST', '/oauth/revoke', {}, revoked)
    const nothing = { ...nowhere, target: null }
    const tries = [
      [revoked, { ...of(world.app), target: await credentialOf(revoked) }],
      [wrongSecret(revoked), nothing],
      ['nonsense', nothing],
      ['x'.repeat(5_000), nothing],
    ] as const
    for (const [token, row] of tries) {
      const answer = await send('GET', '/me', undefined, token)
      expect(codeOf(answer)).toBe('invalid_token')
      expect(await told(answer)).toEqual([
        { ...byNobody, ...row, action: 'bearer.check', ...refusedWith('invalid_token') },
      ])
    }
    const basic = await send('GET', '/oauth/me', undefined, undefined, { Authorization: 'Basic dTpw' })
    expect(await told(basic)).toEqual([
      { ...byNobody, ...nothing, action: 'bearer.check', ...refusedWith('invalid_token') },
    ])
  })

  test('sign-ins, and sessions that have ended', async () => {
    const wrong = await send('POST', '~/api/session', { email: world.user.email, password: 'not the password' })
    expect(await told(wrong)).toEqual([
      { ...byUser(world.user), ...nowhere, action: 'session.create', target: null, ...refusedWith('invalid_login') },
    ])
    const unknown = await send('POST', '~/api/session', { email: 'nobody@example.com', password: 'not the password' })
    expect(await told(unknown)).toEqual([
      { ...byNobody, ...nowhere, action: 'session.create', target: null, ...refusedWith('invalid_login') },
    ])
    const over = await signIn(world.server.url, world.user)
    await send('DELETE', '~/api/session', undefined, over)
    const row = {
      ...byNobody,
      ...nowhere,
      action: 'bearer.check',
      target: world.user.id,
      ...refusedWith('login_required'),
    }
    expect(await told(await send('POST', '/oauth/authorize', authorizeBody(world.app), over))).toEqual([row])
    const cookie = { Cookie: sessionCookieOf(world.server.url, over), 'Sec-Fetch-Site': 'same-origin' }
    expect(await told(await send('GET', '~/api/session', undefined, undefined, cookie))).toEqual([row])
  })

  test("the right secret of a suspended app, and another app's token to revoke", async () => {
    const app = await addApp(world.platform, world.user)
    const other = await addApp(world.platform, world.user)
    const token = await appToken(world.server.url, app.development)
    const foreign = await send('POST', '/oauth/revoke', { ...other.development, token })
    expect(await told(foreign)).toEqual([
      { ...byApp(other), action: 'token.revoke', target: null, ...refusedWith('token_not_owned') },
    ])
    const target = await credentialOf(token)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    const asleep = await send('POST', '/token', { ...app.development, scope: 'site:read' })
    expect(await told(asleep)).toEqual([
      { ...byApp(app), action: 'app_token.issue', target, ...refusedWith('app_inactive') },
    ])
  })
})

/** Asks for an app token with the right secret and a scope that is refused, at the contract's door and at the standard one. */
const refusedScopes = async (app: AppInWorld, scope: string): Promise<readonly Answer[]> => [
  await send('POST', '/token', { ...app.development, scope }),
  await sendForm(world.server.url, '/oauth/token', { grant_type: 'client_credentials', scope }, basic(app.development)),
]

test.each([
  ['no-such-scope', 'invalid_scope'],
  ['customers:read', 'scope_not_available'],
  ['profile:read', 'scope_not_allowed'],
])('an app token with the scope %s, asked for with the right secret, leaves one row: %s', async (scope, reason) => {
  const target = await credentialOf(await appToken(world.server.url, world.app.development))
  for (const answer of await refusedScopes(world.app, scope)) {
    expect(await told(answer)).toEqual([
      { ...byApp(world.app), action: 'app_token.issue', target, ...refusedWith(reason) },
    ])
  }
})

describe('operators', () => {
  test('leave one event for each change, in order, and none if nothing changes', async () => {
    const since = (await allEvents()).length
    const { platform } = world
    const user = await addUser(platform)
    const app = await addApp(platform, user)
    const { slug } = app
    const install = await installApp(platform, app, user)
    await moveInstall(platform, trace, operator, { id: install, step: 'deactivate' })
    const second = await createCredential(platform, trace, operator, { slug, environment: 'development', label: null })
    await revokeCredential(platform, trace, operator, second.id)
    await revokeCredential(platform, trace, operator, second.id)
    await rotateCredential(platform, trace, operator, { clientId: app.development.clientId, graceHours: 0 })
    const uri = { slug, environment: 'development', uri: app.redirectUri } as const
    await addRedirectUri(platform, trace, operator, uri)
    await removeRedirectUri(platform, trace, operator, uri)
    await removeRedirectUri(platform, trace, operator, uri)
    for (const status of ['suspended', 'suspended', 'active'] as const) {
      await setAppStatus(platform, trace, operator, { slug, status })
    }
    for (const status of ['disabled', 'disabled', 'active'] as const) {
      await setUserStatus(platform, trace, operator, { email: user.email, status, apps: { kind: 'keep' } })
    }
    const token = await appToken(world.server.url, app.production)
    await send('POST', '/oauth/revoke', {}, token)
    const events = (await allEvents()).slice(since)

    expect(events.map(({ action }) => action)).toEqual([
      'user.created',
      'app.created',
      'redirect_uri.added',
      'redirect_uri.added',
      'credential.created',
      'credential.created',
      'install.created',
      'install.approved',
      'install.deactivated',
      'credential.created',
      'credential.revoked',
      'credential.rotated',
      'redirect_uri.removed',
      'app.suspended',
      'app.activated',
      'user.disabled',
      'user.enabled',
      'app_token.issued',
      'app_token.revoked',
    ])
    const actors = new Set(events.map(({ actorKind, actorId }) => `${actorKind} ${actorId}`))
    expect(actors).toEqual(new Set(['operator test', `app ${app.production.clientId}`]))
    expect(events.filter(({ target }) => target === null)).toEqual([])
  })

  test('leave one event for each step of a version', async () => {
    const app = await addApp(world.platform, world.user)
    const token = await appToken(world.server.url, app.development)
    await send('POST', '/versions', { version: '1.0.0' }, token)
    for (const step of ['submit', 'withdraw', 'submit', 'approve', 'activate'] as const) {
      await moveVersion(world.platform, trace, operator, { slug: app.slug, version: '1.0.0', step, rejection: null })
    }
    const events = await auditEvents(world.platform, app)
    expect(events.map(({ action }) => action).slice(-5)).toEqual([
      'version.submitted',
      'version.withdrawn',
      'version.submitted',
      'version.approved',
      'version.activated',
    ])
  })

  test('read the whole log in order, including issued tokens, or one app if they ask for one', async () => {
    const listed = await runProgram(['audit', 'list', '--limit', '1000', '--json', '--database', world.server.database])
    expect(listed.code).toBe(0)
    const { data } = JSON.parse(listed.stdout)
    const times = data.map((event: { at: string }) => event.at)
    expect(times).toEqual(times.toSorted())
    const actions = new Set(data.map((event: { action: string }) => event.action))
    for (const action of ['app_token.issued', 'user_tokens.issued', 'grant.created', 'bearer.check', 'user.created']) {
      expect(actions).toContain(action)
    }
    const expected = (await allEvents()).slice(-1000).map(({ requestId, action }) => `${requestId} ${action}`)
    expect(data.map((event: { requestId: string; action: string }) => `${event.requestId} ${event.action}`)).toEqual(
      expected,
    )
    const ofApp = await runProgram([
      'audit',
      'list',
      '--app',
      world.app.slug,
      '--limit',
      '1000',
      '--json',
      '--database',
      world.server.database,
    ])
    const apps = new Set(JSON.parse(ofApp.stdout).data.map((event: { appId: string }) => event.appId))
    expect(apps).toEqual(new Set([world.app.id]))
  })
})

test('no audit event is lost when the server is killed right after its answers', async () => {
  const answers = await together(60, async (index) => {
    switch (index % 3) {
      case 0:
        return await send('POST', '/token', { ...world.app.development, scope: 'site:read' })
      case 1:
        return await send('POST', '/token', { ...world.app.development, clientSecret: 'wrong', scope: 'site:read' })
      default:
        return await send('GET', '/me', undefined, `apat_${index}`)
    }
  })
  world = await crash(world)
  const kept = (await allEvents()).map(({ requestId }) => requestId)
  for (const { headers } of answers) {
    expect(kept.filter((requestId) => requestId === headers.get('x-request-id'))).toHaveLength(1)
  }
})
