import { describe, expect, test } from 'bun:test'
import { basicOf, codeForm, refreshForm, sendForm } from '../flows/support/standard.ts'
import { type Answer, call } from '../support/call.ts'
import { embedOrigin } from '../support/embedding.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { exchangeBody, refreshBody } from '../support/world.ts'
import { createTokenKinds, outcomeOf, type TokenKind } from './support/token-kinds.ts'
import { sessionCookieOf } from '../support/cookie.ts'

// Every kind of token in every place where a request carries one of another kind.

const world = await worldOfFile()
const kinds = await createTokenKinds(world)

const entries = () => Object.entries(kinds) as readonly [TokenKind, () => Promise<string>][]

/** The answers to each kind of token in one place of a body. */
const askWithEach = async (ask: (token: string) => Promise<Answer>): Promise<Record<string, string>> => {
  const told: Record<string, string> = {}
  for (const [kind, source] of entries()) told[kind] = outcomeOf(await ask(await source()))
  return told
}
const eachBut = (others: string, own: Readonly<Record<string, string>>): Record<string, string> => ({
  ...Object.fromEntries(entries().map(([kind]) => [kind, others])),
  ...own,
})
const client = () => ({
  client_id: world.app.development.clientId,
  client_secret: world.app.development.clientSecret,
})

describe('a token of another kind is refused', () => {
  test('as a code', async () => {
    const { url } = world.server
    const right = eachBut('401 invalid_grant', { 'authorization code': '200' })
    expect(
      await askWithEach(
        async (code) => await call(url, 'POST', '/oauth/token', { body: exchangeBody(world.app, code) }),
      ),
    ).toEqual(right)
    const form = (code: string) => ({ ...codeForm(world.app, code), ...client() })
    expect(await askWithEach(async (code) => await sendForm(url, '/oauth/token', form(code)))).toEqual(
      eachBut('400 invalid_grant', { 'authorization code': '200' }),
    )
  })

  test('as a refresh token', async () => {
    const { url } = world.server
    expect(
      await askWithEach(
        async (token) => await call(url, 'POST', '/oauth/token', { body: refreshBody(world.app, token) }),
      ),
    ).toEqual(eachBut('401 invalid_grant', { 'refresh token': '200' }))
    expect(
      await askWithEach(async (token) => await sendForm(url, '/oauth/token', { ...refreshForm(token), ...client() })),
    ).toEqual(eachBut('400 invalid_grant', { 'refresh token': '200' }))
  })

  test('as a client secret, in the body and by Basic', async () => {
    const { url } = world.server
    const { clientId } = world.app.development
    const right = eachBut('401 invalid_client', { 'client secret': '200' })
    const issue = (clientSecret: string) => ({ body: { clientId, clientSecret, scope: 'site:read' } })
    expect(await askWithEach(async (token) => await call(url, 'POST', '/token', issue(token)))).toEqual(right)
    for (const path of ['/oauth/token', '/oauth/introspect', '/oauth/revoke']) {
      const form = { grant_type: 'client_credentials', token: 'x' }
      expect(
        await askWithEach(async (token) => await sendForm(url, path, form, basicOf(`${clientId}:${token}`))),
      ).toEqual(right)
    }
  })

  test('as an install-session code, from the page of the app', async () => {
    const { clientId } = world.app.production
    const headers = { Origin: embedOrigin(world.app) }
    expect(
      await askWithEach(
        async (code) =>
          await call(world.server.url, 'POST', '~/api/embedded/session', { body: { clientId, code }, headers }),
      ),
    ).toEqual(eachBut('401 invalid_grant', { 'install-session code': '200' }))
  })

  test('as a bearer token of the standard endpoints, which accept only clients, and service keys for introspection', async () => {
    for (const path of ['/oauth/token', '/oauth/introspect', '/oauth/revoke']) {
      const form = { grant_type: 'client_credentials', token: 'x' }
      const ask = async (token: string) =>
        await sendForm(world.server.url, path, form, { Authorization: `Bearer ${token}` })
      const others = path === '/oauth/introspect' ? { 'service key': '200' } : {}
      expect(await askWithEach(ask)).toEqual(eachBut('401 invalid_client', others))
    }
  })

  test('as the cookie of a page, which redirects to sign-in', async () => {
    const { url } = world.server
    expect(
      await askWithEach(
        async (token) =>
          await call(url, 'GET', '~/account', {
            headers: { Cookie: sessionCookieOf(url, token), Accept: 'text/html' },
          }),
      ),
    ).toEqual(eachBut('303', { session: '200', "operator's session": '200' }))
  })

  test('in a revocation: sessions and secrets stay live', async () => {
    const { url } = world.server
    const spared: Readonly<Record<string, (token: string) => Promise<Answer>>> = {
      session: async (token) => await call(url, 'GET', '~/api/session', { token }),
      "operator's session": async (token) => await call(url, 'GET', '~/api/session', { token }),
      'client secret': async () =>
        await call(url, 'POST', '/token', { body: { ...world.app.development, scope: 'site:read' } }),
      'embedded session': async (token) =>
        await call(url, 'GET', '/oauth/me', { token, headers: { Origin: embedOrigin(world.app) } }),
    }
    /** Of the same app. */
    const ofOtherClient = new Set<TokenKind>(['production app token', 'embedded session', 'install-session code'])
    for (const [kind, source] of entries()) {
      const token = await source()
      const answer = await call(url, 'POST', '/oauth/revoke', { body: { ...world.app.development, token } })
      const outcome = ofOtherClient.has(kind) ? '403 token_not_owned' : '200'
      expect({ kind, outcome: outcomeOf(answer) }).toEqual({ kind, outcome })
      const still = await spared[kind]?.(token)
      expect({ kind, still: still?.status ?? 200 }).toEqual({ kind, still: 200 })
    }
  })
})
