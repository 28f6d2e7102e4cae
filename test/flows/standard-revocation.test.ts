import { describe, expect, test } from 'bun:test'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { auditEvents } from '../support/audit-events.ts'
import { type Answer, call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp } from '../support/world.ts'
import {
  basic,
  expectError,
  expectUncached,
  freshCode,
  inBody,
  refreshForm,
  sendForm,
  standardAppToken,
  standardTokens,
} from './support/standard.ts'

const world = await worldOfFile()
const { url } = world.server
const other = await addApp(world.platform, world.user)

const revoke = async (token: string, more: Readonly<Record<string, string>> = {}, app = world.app) =>
  await sendForm(url, '/oauth/revoke', { token, ...more }, basic(app.development))
const refresh = async (refreshToken: string) =>
  await sendForm(url, '/oauth/token', refreshForm(refreshToken), basic(world.app.development))
const userOf = async (token: string) => (await call(url, 'GET', '/oauth/me', { token })).status
const appOf = async (token: string) => (await call(url, 'GET', '/me', { token })).status
const expectRevoked = (answer: Answer): void => {
  expect([answer.status, answer.text]).toEqual([200, '{}'])
  expectUncached(answer)
}

describe('revocation (RFC 7009)', () => {
  test('ends a grant by any of its tokens, spent or not, and an app token alone', async () => {
    for (const which of ['access_token', 'refresh_token'] as const) {
      const first = await standardTokens(world)
      const second = (await refresh(first.refresh_token)).body
      for (const token of [first[which], second[which]]) {
        expectRevoked(await revoke(token))
        expect(await userOf(second.access_token)).toBe(401)
        expectError(await refresh(second.refresh_token), 'invalid_grant')
      }
    }
    const [one, two] = [await standardAppToken(world), await standardAppToken(world)]
    expectRevoked(await revoke(one))
    expect([await appOf(one), await appOf(two)]).toEqual([401, 200])
  })

  test('ends a token that comes with the space around it of the file or the page that it is from', async () => {
    for (const [before, after] of [
      ['', '\n'],
      ['', '\r\n'],
      [' ', ' '],
      ['\t\u00a0', '\u2003'],
    ]) {
      const token = await standardAppToken(world)
      expectRevoked(await revoke(`${before}${token}${after}`))
      expect(await appOf(token)).toBe(401)
      const again = await standardAppToken(world)
      const body = { ...world.app.development, token: `${before}${again}${after}` }
      expect((await call(url, 'POST', '/oauth/revoke', { body })).status).toBe(200)
      expect(await appOf(again)).toBe(401)
    }
  })

  test('accepts any hint and needs none', async () => {
    for (const hint of ['access_token', 'refresh_token', 'something_else', '']) {
      const tokens = await standardTokens(world)
      expectRevoked(await revoke(tokens.access_token, { token_type_hint: hint }))
      expect(await userOf(tokens.access_token)).toBe(401)
    }
  })

  test('accepts the credentials in the form', async () => {
    const token = await standardAppToken(world)
    expectRevoked(await sendForm(url, '/oauth/revoke', { token, ...inBody(world.app.development) }))
    expect(await appOf(token)).toBe(401)
  })

  test('accepts the same credentials by header and form at once, and nothing else that is given twice', async () => {
    const { development, production } = world.app
    const both = { ...inBody(development) }
    const token = await standardAppToken(world)
    for (const form of [
      { ...both, client_secret: `${both.client_secret}x` },
      { ...both, client_secret: production.clientSecret },
      { ...both, client_id: production.clientId },
      { ...both, client_assertion: 'x' },
    ]) {
      expectError(await revoke(token, form), 'invalid_request')
    }
    expect(await appOf(token)).toBe(200)
    expectRevoked(await revoke(token, both))
    expect(await appOf(token)).toBe(401)
    for (const path of ['/oauth/token', '/oauth/introspect']) {
      const form = { grant_type: 'client_credentials', token, ...both }
      expectError(await sendForm(url, path, form, basic(development)), 'invalid_request')
    }
  })

  test('of an unknown, ended or malformed token succeeds', async () => {
    const { access_token: token } = await standardTokens(world)
    await revoke(token)
    const code = await freshCode(world)
    for (const each of [token, 'x', 'apat_x', 'x'.repeat(10_000), code, world.app.development.clientSecret, '\u00fc']) {
      expectRevoked(await revoke(each))
    }
  })

  test("refuses another client's token, which goes on working, as a grant that was issued to another", async () => {
    const tokens = await standardTokens(world)
    const issued = await standardAppToken(world)
    const live = await standardAppToken(world, world.app.production)
    for (const token of [tokens.access_token, tokens.refresh_token, issued]) {
      expectError(await revoke(token, {}, other), 'invalid_grant')
    }
    expectError(await revoke(live), 'invalid_grant')
    expect([await userOf(tokens.access_token), await appOf(issued), await appOf(live)]).toEqual([200, 200, 200])
    expect((await refresh(tokens.refresh_token)).status).toBe(200)
  })

  test('needs a client: wrong credentials change nothing', async () => {
    const token = await standardAppToken(world)
    const wrong = { ...world.app.development, clientSecret: 'x' }
    expectError(await sendForm(url, '/oauth/revoke', { token }, basic(wrong)), 'invalid_client')
    expectError(await sendForm(url, '/oauth/revoke', { token }), 'invalid_client')
    expectError(await sendForm(url, '/oauth/revoke', { token }, { Authorization: `Bearer ${token}` }), 'invalid_client')
    expect(await appOf(token)).toBe(200)
  })

  test('works for a suspended app, and lasts after it is active again', async () => {
    const app = await addApp(world.platform, world.user)
    const token = await standardAppToken(world, app.development)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    expectRevoked(await revoke(token, {}, app))
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'active' })
    expect(await appOf(token)).toBe(401)
  })

  test('leaves the same audit events as the contract API', async () => {
    const { access_token: token } = await standardTokens(world)
    const refused = await revoke(token, {}, other)
    const done = await revoke(token)
    const rows = await auditEvents(world.platform)
    const told = ({ headers }: Answer) =>
      rows
        .filter(({ requestId }) => requestId === headers.get('x-request-id'))
        .map(({ action, actorId, reason }) => ({ action, actorId, reason }))
    expect(told(refused)).toEqual([
      { action: 'token.revoke', actorId: other.development.clientId, reason: 'token_not_owned' },
    ])
    expect(told(done)).toEqual([{ action: 'grant.revoked', actorId: world.app.development.clientId, reason: null }])
  })
})
