import { expect } from 'bun:test'
import type { Answer } from '../../support/call.ts'
import { type AppInWorld, authorize, type Credentials, signIn, verifier, type World } from '../../support/world.ts'
import { send } from './send.ts'

/** The endpoints that take forms. */
export const formPaths = ['/oauth/token', '/oauth/revoke', '/oauth/introspect'] as const
export type FormPath = (typeof formPaths)[number]

/** The fields of a form by name, or the whole form as text. */
export type Form = Readonly<Record<string, string>> | string
type Headers = Readonly<Record<string, string>>

/** One form as a client of the standard format sends it. */
export const sendForm = async (url: string, path: string, form: Form, headers: Headers = {}): Promise<Answer> =>
  await send(url, 'POST', `~${path}`, {
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
  })

/** client_secret_basic, both halves form-encoded. */
export const basic = ({ clientId, clientSecret }: Credentials): { readonly Authorization: string } =>
  basicOf(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)

/** Whatever stands for `id:secret`. */
export const basicOf = (pair: string | Uint8Array): { readonly Authorization: string } => ({
  Authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
})

/** client_secret_post. */
export const inBody = ({ clientId, clientSecret }: Credentials) => ({
  client_id: clientId,
  client_secret: clientSecret,
})

/** A code of a fresh consent. */
export const freshCode = async ({ server, user, app }: World): Promise<string> =>
  await authorize(server.url, await signIn(server.url, user), app)

export const codeForm = (app: AppInWorld, code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: app.redirectUri,
  code_verifier: verifier,
})
export const refreshForm = (refreshToken: string) => ({ grant_type: 'refresh_token', refresh_token: refreshToken })

/** Tokens of a fresh grant, through the standard door alone. */
export const standardTokens = async (
  world: World,
): Promise<{ readonly access_token: string; readonly refresh_token: string; readonly scope: string }> => {
  const { app, server } = world
  return (await sendForm(server.url, '/oauth/token', codeForm(app, await freshCode(world)), basic(app.development)))
    .body
}

export const standardAppToken = async ({ server, app }: World, credentials = app.development): Promise<string> =>
  (await sendForm(server.url, '/oauth/token', { grant_type: 'client_credentials' }, basic(credentials))).body
    .access_token

/** What a client learns of a token. */
export const introspected = async ({ server, app }: World, token: string, credentials = app.development) => {
  const answer = await sendForm(server.url, '/oauth/introspect', { token }, basic(credentials))
  expect(answer.status).toBe(200)
  expectUncached(answer)
  return answer.body
}

export const expectUncached = ({ headers }: Answer): void => {
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/)
  expect(headers.get('access-control-allow-origin')).toBeNull()
}

const errorNames = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  temporarily_unavailable: 503,
  server_error: 500,
} as const

/** Holds an answer to RFC 6749 section 5.2: this error and nothing else, in its characters, with its status and headers. */
export const expectError = (
  answer: Answer,
  error: keyof typeof errorNames,
  status: number = errorNames[error],
): void => {
  expect({ status: answer.status, error: answer.body?.error }).toEqual({ status, error })
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(Object.keys(answer.body)).toEqual(['error', 'error_description'])
  expect(answer.body.error_description).toMatch(/^[A-Z][\x20-\x21\x23-\x5b\x5d-\x7e]*\.$/)
  expectUncached(answer)
  const challenge = answer.headers.get('www-authenticate')
  if (status === 401) expect(challenge).toMatch(/^Basic realm="[^"]+"/)
  else expect(challenge).toBeNull()
  const waits = status === 429 || status === 503
  expect(answer.headers.has('retry-after')).toBe(waits)
  if (waits) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}
