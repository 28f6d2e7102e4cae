import { describe, expect, test } from 'bun:test'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { putBuilderResource } from '../../src/operations/resources/resources.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { createCredential, revokeCredential, listCredentials } from '../../src/operations/credentials/credentials.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addEmbeddedVersion, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, appToken, grantTokens, signIn } from '../support/world.ts'
import {
  basic,
  expectError,
  freshCode,
  inBody,
  introspected,
  refreshForm,
  sendForm,
  standardAppToken,
  standardTokens,
} from './support/standard.ts'

const issuer = 'https://apps.example.com'
const world = await worldOfFile({ env: { PUBLIC_URL: issuer } })
const { url } = world.server
const other = await addApp(world.platform, world.user)

const inactive = { active: false }
const scope = 'profile.email:read profile:read site:read store:read'
const refresh = async (refreshToken: string, more: Readonly<Record<string, string>> = {}, app = world.app) =>
  (await sendForm(url, '/oauth/token', { ...refreshForm(refreshToken), ...more }, basic(app.development))).body

/** The introspection of a live token without its times, which must be those of a token issued just now. */
const told = async (token: string, lifetime: number) => {
  const { exp, iat, ...rest } = await introspected(world, token)
  expect([exp, iat].every(Number.isInteger)).toBe(true)
  expect(exp - iat).toBe(lifetime)
  expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60)
  return rest
}

describe('introspection (RFC 7662) describes a client’s own live tokens, without personal data', () => {
  test('an app token: the subject is the client', async () => {
    const { clientId } = world.app.development
    expect(await told(await standardAppToken(world), 3_600)).toEqual({
      active: true,
      scope: 'site.content:write site:read store:read',
      client_id: clientId,
      token_type: 'Bearer',
      sub: clientId,
      iss: issuer,
    })
  })

  test('an access token: the subject is the user', async () => {
    expect(await told((await standardTokens(world)).access_token, 3_600)).toEqual({
      active: true,
      scope,
      client_id: world.app.development.clientId,
      token_type: 'Bearer',
      sub: world.user.id,
      iss: issuer,
    })
  })

  test('a refresh token: without a token type, and with the scope of its grant', async () => {
    const { refresh_token: first } = await standardTokens(world)
    const narrowed = await refresh(first, { scope: 'site:read' })
    const facts = { active: true, scope, client_id: world.app.development.clientId, sub: world.user.id, iss: issuer }
    expect(await told(narrowed.refresh_token, 30 * 24 * 3_600)).toEqual(facts)
    expect((await introspected(world, narrowed.access_token)).scope).toBe('site:read')
  })

  test('of the other API, in the other environment, and with the credentials in the form', async () => {
    const { production } = world.app
    expect((await introspected(world, (await grantTokens(world)).accessToken)).active).toBe(true)
    const live = await appToken(url, production)
    expect((await introspected(world, live, production)).client_id).toBe(production.clientId)
    const posted = await sendForm(url, '/oauth/introspect', { token: live, ...inBody(production) })
    expect(posted.body.active).toBe(true)
  })

  test('the session of its own framed page: whom the page serves, and on which website or store', async () => {
    const { platform, app, user } = world
    await linkUser(platform, trace, operator, { email: user.email, externalId: 'framed' })
    await putBuilderResource(platform, trace, operator, {
      kind: 'site',
      externalId: '17',
      ownerExternalId: 'framed',
      name: 'Shop',
      slug: 'shop',
      status: 'draft',
      createdAt: null,
      updatedAt: null,
    })
    await addEmbeddedVersion(platform, app)
    const asked = { slug: app.slug, userEmail: user.email, kind: 'site', resourceSlug: 'shop' } as const
    const { id } = await createInstall(platform, trace, operator, asked)
    await moveInstall(platform, trace, operator, { id, step: 'approve' })
    const session = await signIn(url, user)
    const code = await openInstall(platform, session, id)
    const opened = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
    const { sessionToken } = (await exchangeInstallCode(url, opened)).body
    const facts = await introspected(world, sessionToken, app.production)
    expect(facts).toEqual({
      active: true,
      client_id: app.production.clientId,
      token_type: 'embedded_session',
      install_id: id,
      resource: { kind: 'site', id: '17' },
      sub: user.id,
      iss: issuer,
      iat: expect.any(Number),
      exp: expect.any(Number),
    })
    // Not for its own other environment, another app, or the builder, who has no use for it.
    expect(await introspected(world, sessionToken)).toEqual(inactive)
    expect(await introspected(world, sessionToken, other.production)).toEqual(inactive)
    const key = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
    const { secret } = await createServiceKey(platform, trace, operator, key)
    const bearer = { Authorization: `Bearer ${secret}` }
    expect((await sendForm(url, '/oauth/introspect', { token: sessionToken }, bearer)).body).toEqual(inactive)
    await moveInstall(platform, trace, operator, { id, step: 'deactivate' })
    expect(await introspected(world, sessionToken, app.production)).toEqual(inactive)
  })

  test('with any hint', async () => {
    const { access_token: token } = await standardTokens(world)
    for (const hint of ['access_token', 'refresh_token', 'something_else', '']) {
      const form = { token, token_type_hint: hint }
      expect((await sendForm(url, '/oauth/introspect', form, basic(world.app.development))).body.active).toBe(true)
    }
  })

  test('without changing the token or its grant', async () => {
    const tokens = await standardTokens(world)
    for (const token of [tokens.access_token, tokens.refresh_token, tokens.refresh_token]) {
      expect((await introspected(world, token)).active).toBe(true)
    }
    expect((await refresh(tokens.refresh_token)).access_token).toBeString()
  })
})

describe('every other token is just not active', () => {
  test('malformed text and other kinds of secrets', async () => {
    const token = await standardAppToken(world)
    const spoilt = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    for (const text of [
      'x',
      ' ',
      '\u00fc',
      'apat_',
      spoilt,
      `${token} `,
      token.toUpperCase(),
      token.replace('apat_', 'apua_'),
      'x'.repeat(30_000),
      await freshCode(world),
      await signIn(url, world.user),
      world.app.development.clientSecret,
      world.app.development.clientId,
    ]) {
      expect(await introspected(world, text)).toEqual(inactive)
    }
  })

  test("another app's tokens, and those of the app's own other environment", async () => {
    const tokens = await standardTokens(world)
    const issued = await standardAppToken(world)
    for (const token of [tokens.access_token, tokens.refresh_token, issued]) {
      expect(await introspected(world, token, other.development)).toEqual(inactive)
      expect(await introspected(world, token, world.app.production)).toEqual(inactive)
      expect((await introspected(world, token)).active).toBe(true)
    }
  })

  test('tokens that a refresh has ended', async () => {
    const first = await standardTokens(world)
    const second = await refresh(first.refresh_token)
    expect(await introspected(world, first.access_token)).toEqual(inactive)
    expect(await introspected(world, first.refresh_token)).toEqual(inactive)
    expect((await introspected(world, second.refresh_token)).active).toBe(true)
    const third = await refresh(second.refresh_token)
    await refresh(first.refresh_token)
    expect(await introspected(world, third.access_token)).toEqual(inactive)
    expect(await introspected(world, third.refresh_token)).toEqual(inactive)
  })

  test('revoked tokens', async () => {
    const tokens = await standardTokens(world)
    const issued = await standardAppToken(world)
    for (const token of [tokens.access_token, issued]) {
      await sendForm(url, '/oauth/revoke', { token }, basic(world.app.development))
    }
    for (const token of [tokens.access_token, tokens.refresh_token, issued]) {
      expect(await introspected(world, token)).toEqual(inactive)
    }
  })

  test('tokens of a suspended app, until it is active again', async () => {
    const app = await addApp(world.platform, world.user)
    const suspended = { ...world, app }
    const tokens = await standardTokens(suspended)
    const all = [tokens.access_token, tokens.refresh_token, await standardAppToken(suspended)]
    const states = async () =>
      await Promise.all(all.map(async (token) => (await introspected(suspended, token)).active))
    expect(await states()).toEqual([true, true, true])
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    for (const token of all) expect(await introspected(suspended, token)).toEqual(inactive)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'active' })
    expect(await states()).toEqual([true, true, true])
  })

  test('tokens of a disabled user, and not the token of the app', async () => {
    const user = await addUser(world.platform, 'Bob Example')
    const tokens = await standardTokens({ ...world, user })
    await setUserStatus(world.platform, trace, operator, { email: user.email, status: 'disabled' })
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect(await introspected(world, token)).toEqual(inactive)
    }
    expect((await introspected(world, await standardAppToken(world))).active).toBe(true)
  })

  test('an app token whose secret has ended', async () => {
    const app = await addApp(world.platform, world.user)
    const second = await createCredential(world.platform, trace, operator, {
      slug: app.slug,
      environment: 'development',
      label: null,
    })
    const token = await standardAppToken(world, second)
    expect((await introspected(world, token, app.development)).active).toBe(true)
    await revokeCredential(world.platform, trace, operator, second.id)
    expect(await introspected(world, token, app.development)).toEqual(inactive)
    expectError(await sendForm(url, '/oauth/introspect', { token }, basic(second)), 'invalid_client')
  })
})

describe('the caller must be a client', () => {
  test('with the right secret; otherwise the refusal is recorded', async () => {
    const token = await standardAppToken(world)
    const wrong = { ...world.app.development, clientSecret: world.app.production.clientSecret }
    const answer = await sendForm(url, '/oauth/introspect', { token }, basic(wrong))
    expectError(answer, 'invalid_client')
    expectError(
      await sendForm(url, '/oauth/introspect', { token }, { Authorization: `Bearer ${token}` }),
      'invalid_client',
    )
    expectError(await sendForm(url, '/oauth/introspect', { token }), 'invalid_client')
    const rows = await auditEvents(world.platform)
    const row = rows.find(({ requestId }) => requestId === answer.headers.get('x-request-id'))
    expect(row).toMatchObject({
      action: 'token.introspect',
      reason: 'invalid_client',
      appId: world.app.id,
      target: world.app.development.clientId,
    })
  })

  test('and the call counts as a use of its secret', async () => {
    const app = await addApp(world.platform, world.user)
    const lastUse = async () => {
      const listed = await listCredentials(world.platform, app.slug)
      return listed.find(({ environment }) => environment === 'development')?.lastUsedAt ?? null
    }
    expect(await lastUse()).toBeNull()
    expect(await introspected(world, 'x', app.development)).toEqual(inactive)
    expect(await lastUse()).not.toBeNull()
  })
})
