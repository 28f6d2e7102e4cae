import { fetchPatiently } from '../support/fetch-patiently.ts'
import { describe, expect, test } from 'bun:test'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { agreeToScopes, moveInstall } from '../../src/operations/installs/installs.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { type Answer, call } from '../support/call.ts'
import {
  addEmbeddedInstall,
  addEmbeddedVersion,
  embedOrigin,
  exchangeInstallCode,
  openInstall,
  scopesIn,
} from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, grantTokens, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { url } = world.server

/** A user with an app of somebody else's in a frame, and a code for it. */
const scene = async () => {
  const { platform } = world
  const user = await addUser(platform)
  const app = await addApp(platform, await addUser(platform, 'Dora Developer'))
  const install = await addEmbeddedInstall(platform, app, user)
  const session = await signIn(url, user)
  const origin = embedOrigin(app)
  const { clientId } = app.production
  const code = await openInstall(platform, session, install)
  return { user, app, install, session, origin, clientId, code }
}
type Scene = Awaited<ReturnType<typeof scene>>

const exchanged = async ({ clientId, code, origin }: Scene): Promise<string> =>
  (await exchangeInstallCode(url, { clientId, code, origin })).body.sessionToken

const me = async (token: string, origin: string | null): Promise<Answer> =>
  await call(url, 'GET', '/oauth/me', { token, headers: origin === null ? {} : { Origin: origin } })

const sites = async (token: string, origin: string, kind = 'site'): Promise<Answer> =>
  await call(url, 'GET', '/resources', { token, query: { kind }, headers: { Origin: origin } })

/** What the audit says of the install, newest last. */
const trailOf = async (install: string): Promise<readonly string[]> =>
  (await auditEvents(world.platform))
    .filter(({ target }) => target === install)
    .map(({ action, outcome, reason }) => (outcome === 'done' ? action : `${action}: ${reason}`))

describe('the exchange', () => {
  test('gives the page of an installed app a session of ten minutes with its install and scopes', async () => {
    const there = await scene()
    const answer = await exchangeInstallCode(url, there)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      sessionToken: expect.stringMatching(/^apes_[0-9A-Za-z]{71}$/),
      expiresIn: 600,
      install: { id: there.install, environment: 'production', kind: 'store', resource: 'my-store' },
      scope: 'profile:read site:read',
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('access-control-allow-origin')).toBe(there.origin)
    expect(answer.headers.get('vary')).toBe('Origin')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('has one winner of two hundred at once, and creates only its session', async () => {
    const there = await scene()
    const answers = await Promise.all(Array.from({ length: 200 }, async () => await exchangeInstallCode(url, there)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 'invalid_grant')
    expect((await me(won[0]?.body.sessionToken, there.origin)).status).toBe(200)
    const trail = await trailOf(there.install)
    expect(trail.filter((action) => action === 'embedded_session.issued')).toHaveLength(1)
    expect(trail.filter((action) => action.startsWith('install_session_code.reuse_detected'))).toHaveLength(199)
  })

  test('of a spent code from elsewhere is refused and recorded, and ends the session that it gave', async () => {
    const there = await scene()
    const token = await exchanged(there)
    expect((await me(token, there.origin)).status).toBe(200)
    const elsewhere = { ...there, origin: (await scene()).origin }
    expectRefusal(await exchangeInstallCode(url, elsewhere), 'invalid_grant')
    expect(await trailOf(there.install)).toContain('install_session_code.reuse_detected: invalid_grant')
    expectRefusal(await me(token, there.origin), 'invalid_token')
    expect((await call(url, 'GET', '~/metrics')).text).toMatch(
      /app_platform_tokens_reused_total\{kind="install_session_code"\} [1-9]/,
    )
  })

  test('from another origin, from none, or for another client spends nothing', async () => {
    const there = await scene()
    const other = (await scene()).origin
    for (const origin of [
      other,
      'https://nowhere.example',
      'null',
      `${there.origin}.`,
      there.origin.toUpperCase(),
      null,
    ]) {
      expectRefusal(await exchangeInstallCode(url, { ...there, origin }), 'origin_not_allowed')
    }
    for (const clientId of [there.app.development.clientId, world.app.production.clientId, 'apc_live_none']) {
      expectRefusal(await exchangeInstallCode(url, { ...there, clientId }), 'invalid_grant')
    }
    expect(await trailOf(there.install)).toContain('embedded_session.issue: origin_not_allowed')
    expect((await exchangeInstallCode(url, there)).status).toBe(200)
  })

  test('accepts no other secret as a code', async () => {
    const there = await scene()
    const flipped = there.code.slice(0, -1) + (there.code.endsWith('0') ? '1' : '0')
    const { accessToken } = await grantTokens(world)
    for (const code of ['apic_', 'x', flipped, there.session, accessToken]) {
      expectRefusal(await exchangeInstallCode(url, { ...there, code }), 'invalid_grant')
    }
  })

  test('accepts only strict JSON', async () => {
    const path = '~/api/embedded/session'
    const { origin, clientId, code } = await scene()
    const headers = { Origin: origin }
    expectRefusal(await send(url, 'POST', path, { headers, body: '{"clientId":"a","clientId":"b"}' }), 'invalid_json')
    expectRefusal(await send(url, 'POST', path, { headers, body: '[]' }), 'invalid_request')
    expectRefusal(await send(url, 'POST', path, { headers, body: '{"code":"x"}' }), 'invalid_request', 'clientId')
    const asNumber = JSON.stringify({ clientId, code: 7 })
    expectRefusal(await send(url, 'POST', path, { headers, body: asNumber }), 'invalid_request', 'code')
    const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' }
    expectRefusal(await send(url, 'POST', path, { headers: form, body: 'code=x' }), 'unsupported_media_type')
    const twice = { Origin: `${origin}, ${origin}` }
    const body = JSON.stringify({ clientId, code })
    expectRefusal(await send(url, 'POST', path, { headers: twice, body }), 'invalid_request')
    expectRefusal(await send(url, 'PUT', path), 'method_not_allowed')
    const answer = await send(url, 'POST', path, { headers, body: 'no json' })
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
  })

  test.each([
    ['the install has ended', 'install_required', async ({ install }: Scene) => await end(install)],
    ['the app is suspended', 'app_inactive', async ({ app }: Scene) => await suspend(app.slug)],
    ['the user is disabled', 'invalid_grant', async ({ user }: Scene) => await disable(user.email)],
    ['the user has signed out', 'invalid_grant', async ({ session }: Scene) => await signOut(session)],
  ] as const)('is refused once %s', async (_, code, change) => {
    const there = await scene()
    await change(there)
    expectRefusal(await exchangeInstallCode(url, there), code as ErrorCode)
  })
})

const end = async (id: string): Promise<void> =>
  void (await moveInstall(world.platform, trace, operator, { id, step: 'deactivate' }))
const suspend = async (slug: string): Promise<void> =>
  void (await setAppStatus(world.platform, trace, operator, { slug, status: 'suspended' }))
const disable = async (email: string): Promise<void> =>
  void (await setUserStatus(world.platform, trace, operator, { email, status: 'disabled' }))
const signOut = async (token: string): Promise<void> => void (await call(url, 'DELETE', '~/api/session', { token }))

describe('the session', () => {
  test('identifies the user and lists their websites, within the scopes of the install', async () => {
    const there = await scene()
    const token = await exchanged(there)
    const identity = await me(token, there.origin)
    expect(identity.body).toEqual({
      id: there.user.id,
      appId: there.app.id,
      clientId: there.clientId,
      installId: there.install,
      scope: 'profile:read site:read',
      expiresAt: expect.any(String),
      name: 'Ada Example',
      pictureUrl: null,
    })
    expect(identity.headers.get('access-control-allow-origin')).toBe(there.origin)
    expect(identity.headers.get('x-service-api-version')).toBe('2026-08')
    const { status, body, headers } = await sites(token, there.origin)
    expect({ status, slugs: body.data.map(({ slug }: { slug: string }) => slug) }).toEqual({
      status: 200,
      slugs: ['my-site'],
    })
    expect(headers.get('access-control-expose-headers')).toContain('X-Request-Id')
    const stores = await sites(token, there.origin, 'store')
    expectRefusal(stores, 'insufficient_scope')
    expect(stores.headers.get('access-control-allow-origin')).toBe(there.origin)
  })

  test('works on pages of its origin only', async () => {
    const there = await scene()
    const token = await exchanged(there)
    for (const origin of [(await scene()).origin, 'null', null]) {
      const answer = await me(token, origin)
      expectRefusal(answer, 'origin_not_allowed')
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    }
    expect(await trailOf(there.install)).toContain('bearer.check: origin_not_allowed')
    expect((await me(token, there.origin)).status).toBe(200)
  })

  test.each([
    ['the install', async ({ install }: Scene) => await end(install)],
    ['the app', async ({ app }: Scene) => await suspend(app.slug)],
    ['the user', async ({ user }: Scene) => await disable(user.email)],
    ['the session of the user', async ({ session }: Scene) => await signOut(session)],
  ] as const)('ends with %s, on the very next call, and the page can read that', async (_, change) => {
    const there = await scene()
    const token = await exchanged(there)
    expect((await me(token, there.origin)).status).toBe(200)
    await change(there)
    for (const answer of [await me(token, there.origin), await sites(token, there.origin)]) {
      expectRefusal(answer, 'invalid_token')
      expect(answer.headers.get('access-control-allow-origin')).toBe(there.origin)
    }
    expect(await trailOf(there.install)).toContain('bearer.check: invalid_token')
  })

  test('cannot make any other call', async () => {
    const there = await scene()
    const token = await exchanged(there)
    const headers = { Origin: there.origin }
    for (const path of ['/me', '/versions']) {
      expectRefusal(await call(url, 'GET', path, { token, headers }), 'token_type_not_allowed')
    }
    for (const path of ['/oauth/revoke', '/versions/rollback']) {
      expectRefusal(await call(url, 'POST', path, { token, headers, body: {} }), 'token_type_not_allowed')
    }
    expectRefusal(await call(url, 'GET', '~/api/session', { token, headers }), 'token_type_not_allowed')
  })

  test('keeps its scopes if a newer version asks for more, and loses those that it no longer asks for', async () => {
    const { platform } = world
    const there = await scene()
    await addEmbeddedVersion(platform, there.app, {
      version: '2.0.0',
      scopes: ['profile:read', 'store:read', 'profile.email:read'],
    })
    const openAgain = async () => {
      const code = await openInstall(platform, there.session, there.install)
      return (await exchangeInstallCode(url, { ...there, code })).body
    }
    const before = await exchanged(there)
    expect((await me(before, there.origin)).body.scope).toBe('profile:read')
    expect((await openAgain()).scope).toBe('profile:read')
    const agreedTo = scopesIn('profile:read store:read profile.email:read')
    await agreeToScopes(platform, trace, operator, { id: there.install, agreedTo })
    const { sessionToken, scope } = await openAgain()
    expect(scope).toBe('profile.email:read profile:read store:read')
    expect((await sites(sessionToken, there.origin, 'store')).status).toBe(200)
    expect((await me(before, there.origin)).body.scope).toBe('profile:read') // site:read is no longer agreed to
  })
})

const preflight = async (path: string, origin: string | null, method = 'GET') =>
  await fetchPatiently(`${url}${path}`, {
    method: 'OPTIONS',
    headers: {
      ...(origin === null ? {} : { Origin: origin }),
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization,x-service-api-version',
    },
  })

describe('pages of other origins', () => {
  const paths = ['/api/embedded/session', '/api/app-platform/oauth/me', '/api/app-platform/resources?kind=site']

  test('may make these calls if an app of that origin was opened, and no others', async () => {
    const { origin } = await scene()
    for (const path of paths) {
      const open = await preflight(path, origin)
      expect(open.status).toBe(204)
      expect(open.headers.get('access-control-allow-origin')).toBe(origin)
      expect(open.headers.get('access-control-allow-headers')).toContain('Authorization')
      expect(open.headers.get('access-control-allow-headers')).toContain('X-Service-Api-Version')
      const [method, allowed] = path === paths[0] ? ['POST', 'OPTIONS, POST'] : ['GET', 'GET, HEAD, OPTIONS']
      expect(open.headers.get('access-control-allow-methods')).toBe(method)
      expect(open.headers.get('allow')).toBe(allowed)
      expect(open.headers.get('access-control-max-age')).toBe('600')
      for (const other of ['https://nowhere.example', 'null', `${origin}:8443`, null]) {
        const closed = await preflight(path, other)
        expect(closed.status).toBe(204)
        expect([...closed.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    }
    const twoMethods = await preflight('/oauth/userinfo', origin)
    expect(twoMethods.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST')
    expect(twoMethods.headers.get('access-control-allow-methods')).toBe('GET, POST')
    for (const path of ['/api/app-platform/me', '/api/app-platform/token', '/api/session']) {
      expect((await preflight(path, origin)).status).toBe(405)
    }
  })

  test('cannot read the answers to other kinds of tokens', async () => {
    const { origin } = await scene()
    const { accessToken } = await grantTokens(world)
    expect((await me(accessToken, origin)).headers.has('access-control-allow-origin')).toBe(false)
    expect((await me('apua_nonsense', origin)).headers.has('access-control-allow-origin')).toBe(false)
  })
})
