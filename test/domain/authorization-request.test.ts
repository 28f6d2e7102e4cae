import { describe, expect, test } from 'bun:test'
import {
  authorizationErrorOf,
  authorizationQueryOf,
  authorizationRequestFault,
  authorizationRequestOf,
  isSilent,
  readAuthorizationParameters,
  stateOf,
} from '../../src/domain/authorization-request.ts'
import { refuse } from '../../src/domain/errors.ts'

const resource = 'https://platform.example/api/app-platform'
const good = {
  response_type: 'code',
  client_id: 'apc_dev_1',
  redirect_uri: 'https://app.example/callback?a=b',
  scope: 'site:read profile:read',
  state: 'x y+z%&=ü',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}
type Change = Readonly<Record<string, string | null>>
/** A valid query with these fields changed, or left out if null; `more` is appended unchanged. */
const query = (change: Change = {}, more = '') => {
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...good, ...change })) if (value !== null) fields.set(name, value)
  return fields.toString() + more
}
const faultIn = (text: string) => authorizationRequestFault(readAuthorizationParameters(text), resource)
const faultOf = (text: string) => faultIn(text)?.error ?? 'none'
const stateIn = (text: string) => stateOf(readAuthorizationParameters(text))
const silent = (prompt: string | null) => isSilent(readAuthorizationParameters(query({ prompt })))

test('a complete request has no fault and is read exactly', () => {
  const parameters = readAuthorizationParameters(query())
  expect(authorizationRequestFault(parameters, resource)).toBeNull()
  expect(authorizationRequestOf(parameters)).toEqual({
    clientId: good.client_id,
    redirectUri: good.redirect_uri,
    scope: good.scope,
    state: good.state,
    codeChallenge: good.code_challenge,
    codeChallengeMethod: 'S256',
  })
})

test('the canonical query is the same request without the ignored parameters', () => {
  const request = authorizationRequestOf(readAuthorizationParameters(query({}, '&nonce=1&resource=a&resource=b')))
  const canonical = authorizationQueryOf(request)
  expect(canonical).toMatch(/^[\x21-\x7e]+$/)
  expect(canonical).not.toContain('nonce')
  expect(authorizationRequestOf(readAuthorizationParameters(canonical))).toEqual(request)
})

const known = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'request',
  'request_uri',
  'resource',
] as const
const malformed = {
  error: 'invalid_request',
  description: 'A parameter was sent more than once or cannot be read.',
} as const
describe('every known parameter', () => {
  for (const name of known) {
    test.skipIf(name === 'resource')(`${name} may be sent once only, even with equal values`, () => {
      const value = new URLSearchParams(query()).get(name) ?? 'query'
      for (const more of [value, '', 'other', '%FF']) {
        expect(faultIn(query({ [name]: value }, `&${name}=${encodeURIComponent(more)}`))).toEqual(malformed)
      }
      const escaped = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
      expect(faultIn(query({ [name]: value }, `&${encodeURIComponent(name)}&${escaped}=`))).toEqual(malformed)
    })
    test(`${name} is UTF-8 without NUL, and is not repaired`, () => {
      for (const bytes of ['%FF', '%C3', '%ED%A0%80', '%', '%zz', 'a%00b']) {
        expect(faultIn(query({ [name]: null }, `&${name}=${bytes}`))).toEqual(malformed)
      }
    })
  }
  test('counts as missing without a value', () => {
    for (const name of known) {
      for (const more of [`&${name}=`, `&${name}`, '']) {
        const parameters = readAuthorizationParameters(query({ [name]: null }, more))
        expect([parameters.text(name), parameters.hasMalformed]).toEqual([null, false])
      }
    }
  })
})

test('the resource may be named several times, and each must be that of the platform', () => {
  const twice = (...values: readonly string[]) =>
    faultOf(query({ resource }, values.map((value) => `&resource=${encodeURIComponent(value)}`).join('')))
  expect([twice(resource), twice('', resource), twice(''), twice(resource, resource, resource)]).toEqual(
    Array(4).fill('none'),
  )
  expect([twice('https://elsewhere.example/'), twice(`${resource}/`), twice('', ' ')]).toEqual(
    Array(3).fill('invalid_target'),
  )
  expect(faultIn(query({ resource }, '&resource=%FF'))).toEqual(malformed)
})

test('unknown parameters are ignored, in any number and any form', () => {
  const more =
    '&nonce=1&nonce=2&audience=https://a&audience=https://b&__proto__=x&constructor&%FF=1&x=%FF&&=&toString=1'
  expect(faultOf(query({}, more))).toBe('none')
})

test('a missing or wrong parameter is reported with the code of its RFC', () => {
  const faults: readonly (readonly [Change, string])[] = [
    [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
    [{ resource }, 'none'],
    [{ response_type: null }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'code token' }, 'unsupported_response_type'],
    [{ response_type: 'CODE' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ response_mode: 'query' }, 'none'],
    [{ state: null }, 'none'],
    [{ state: 'x'.repeat(2049) }, 'invalid_request'],
    [{ state: 'x'.repeat(2048) }, 'none'],
    [{ code_challenge: null }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge: `${good.code_challenge}=` }, 'invalid_request'],
    [{ code_challenge_method: null }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: 's256' }, 'invalid_request'],
    [{ scope: null }, 'invalid_scope'],
    [{ request: 'eyJ' }, 'request_not_supported'],
    [{ request_uri: 'https://app.example/request' }, 'request_uri_not_supported'],
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ prompt: 'login' }, 'none'],
    [{ prompt: 'consent select_account' }, 'none'],
    [{ prompt: 'none' }, 'none'],
    [{ prompt: ' none ' }, 'none'],
  ]
  for (const [change, error] of faults) expect([change, faultOf(query(change))]).toEqual([change, error])
})

test('every description has only the characters of RFC 6749 section 4.1.2.1', () => {
  for (const change of [
    { state: 'x'.repeat(2049) },
    { scope: null },
    { prompt: 'none login' },
    { request: 'x' },
    { scope: 'x', response_type: 'x' },
  ]) {
    const fault = authorizationRequestFault(readAuthorizationParameters(query(change)), resource)
    expect(fault?.description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+\.$/)
  }
})

test('a state is returned only if it came once and is not too long', () => {
  expect(stateIn(query())).toBe(good.state)
  expect(stateIn(query({ state: 'x'.repeat(2049) }))).toBeNull()
  expect(stateIn(query({}, '&state=other'))).toBeNull()
  expect(stateIn(query({ state: null }, '&state=%FF'))).toBeNull()
  expect(stateIn(query({ state: null }))).toBeNull()
})

test('only prompt=none forbids a page', () => {
  expect([silent('none'), silent(' none '), silent(null), silent('login'), silent('nonex')]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('a plus is a space and a value may hold equals signs', () => {
  const parameters = readAuthorizationParameters('scope=a+b%2B&state=a=b==')
  expect(parameters.text('scope')).toBe('a b+')
  expect(parameters.text('state')).toBe('a=b==')
})

test('refusals about the client, the user or the idempotency key never reach an app', () => {
  for (const code of [
    'invalid_client',
    'invalid_redirect_uri',
    'login_required',
    'idempotency_key_reused',
    'unavailable',
    'internal_error',
    'rate_limited',
  ] as const) {
    expect(authorizationErrorOf(refuse(code))).toBeNull()
  }
  expect(authorizationErrorOf(refuse('app_inactive'))?.error).toBe('unauthorized_client')
  for (const code of ['invalid_scope', 'scope_not_allowed', 'scope_not_available'] as const) {
    expect(authorizationErrorOf(refuse(code))?.error).toBe('invalid_scope')
  }
})

test('one parameter sent a hundred thousand times is malformed, and found in linear time', () => {
  expect(readAuthorizationParameters('state&'.repeat(131_072)).hasMalformed).toBe(true)
})
