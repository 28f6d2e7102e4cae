import { expect, test } from 'bun:test'
import { AppPlatformError, challengeOf, createPkce, readCallback } from '../../src/client/index.ts'
import { startAuthorization } from '../../src/client/authorization.ts'
import { isCodeChallenge, isCodeVerifier, verifierMatches } from '../../src/domain/pkce.ts'

const expected = { state: 'af0ifjsldkj', issuer: 'https://platform.example' }
const callback = (query: Record<string, string>) => `https://app.example/callback?${new URLSearchParams(query)}`
const good = { code: 'apco_x', state: expected.state, iss: expected.issuer }

const codeFrom = (read: () => string): string => {
  try {
    read()
  } catch (error) {
    if (error instanceof AppPlatformError) return error.code
  }
  return 'read'
}

test('every verifier is new, and the server accepts its challenge', async () => {
  const [one, other] = [await createPkce(), await createPkce()]
  expect(one.codeVerifier).not.toBe(other.codeVerifier)
  expect(isCodeVerifier(one.codeVerifier) && isCodeChallenge(one.codeChallenge)).toBe(true)
  expect(verifierMatches(one.codeVerifier, one.codeChallenge)).toBe(true)
  // RFC 7636 appendix B.
  const known = await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')
  expect(known).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
})

test('the authorization URL has every parameter of the consent page, but not the verifier', async () => {
  const asked = { redirectUri: 'https://app.example/callback?a=b c', scope: 'profile:read site:read' }
  const { url, state, codeVerifier } = await startAuthorization(expected.issuer, 'apc_dev_x', asked)
  const parsed = new URL(url)
  expect(parsed.origin + parsed.pathname).toBe('https://platform.example/oauth/authorize')
  expect(Object.fromEntries(parsed.searchParams)).toEqual({
    response_type: 'code',
    client_id: 'apc_dev_x',
    redirect_uri: asked.redirectUri,
    scope: asked.scope,
    state,
    code_challenge: await challengeOf(codeVerifier),
    code_challenge_method: 'S256',
  })
  expect(url).not.toContain(codeVerifier)
  expect(state).toMatch(/^[\w-]{22}$/)
})

test('a callback with the expected state and issuer returns its code', () => {
  const url = callback(good)
  expect(readCallback(url, expected)).toBe('apco_x')
  expect(readCallback(new URL(url), expected)).toBe('apco_x')
  expect(readCallback(new URL(url).searchParams, expected)).toBe('apco_x')
  expect(readCallback(`${url}#fragment`, expected)).toBe('apco_x')
})

test('a callback with another state or issuer is refused before anything else is read', () => {
  const cases: readonly (readonly [query: Record<string, string>, code: string])[] = [
    [{ ...good, state: 'other' }, 'state_mismatch'],
    [{ code: 'apco_x', iss: expected.issuer }, 'state_mismatch'],
    [{ ...good, iss: 'https://platform.example.evil' }, 'issuer_mismatch'],
    [{ code: 'apco_x', state: expected.state }, 'issuer_mismatch'],
    [{ error: 'access_denied', state: 'other', iss: expected.issuer }, 'state_mismatch'],
    [{ error: 'access_denied', state: expected.state, iss: expected.issuer }, 'access_denied'],
    [{ ...good, error: 'access_denied' }, 'malformed_callback'],
    [{ state: expected.state, iss: expected.issuer }, 'malformed_callback'],
  ]
  for (const [query, code] of cases)
    expect([query, codeFrom(() => readCallback(callback(query), expected))]).toEqual([query, code])
  for (const name of ['state', 'iss', 'code']) {
    const twice = `${callback(good)}&${name}=again`
    expect(codeFrom(() => readCallback(twice, expected))).toEndWith(name === 'code' ? '_callback' : '_mismatch')
  }
})
