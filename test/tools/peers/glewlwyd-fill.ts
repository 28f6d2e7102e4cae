import { createHash, randomBytes } from 'node:crypto'
import { verifier } from '../../support/world.ts'
import { appScope, type Material } from './contender.ts'

/*
 * Sets glewlwyd up by its interface for administrators, as its documentation has it, and fills it by its own OAuth
 * endpoints, as clients and signed-in users would.
 */
const client = {
  id: 'bench',
  secret: randomBytes(32).toString('base64url'),
  redirectUri: 'https://app.example/callback',
}
/** Without `openid` no ID token is signed, which the platform does not do either. */
const userScope = 'profile email'
const memberCount = 100
const requestsAtOnce = 16

/** Opaque tokens it does not have: these are JWTs, signed in the cheapest way that it offers. */
const plugin = {
  iss: 'http://localhost',
  'jwt-type': 'sha',
  'jwt-key-size': '256',
  key: randomBytes(48).toString('base64url'),
  'access-token-duration': 3600,
  'refresh-token-duration': 2592000,
  'code-duration': 600,
  'refresh-token-rolling': false,
  'refresh-token-one-use': 'always',
  'allow-non-oidc': true,
  'auth-type-code-enabled': true,
  'auth-type-code-revoke-replayed': true,
  'auth-type-client-enabled': true,
  'auth-type-refresh-enabled': true,
  'auth-type-token-enabled': false,
  'auth-type-id-token-enabled': true,
  'auth-type-none-enabled': false,
  'auth-type-password-enabled': false,
  'auth-type-device-enabled': false,
  'pkce-allowed': true,
  'pkce-required': true,
  'pkce-method-plain-allowed': false,
  'introspection-revocation-allowed': true,
  'introspection-revocation-allow-target-client': true,
  'name-claim': 'mandatory',
  'email-claim': 'mandatory',
}

/**
 * The plugin, the scopes, the confidential client, and members who have granted it what it asks for.
 * @returns the cookies of the members' sessions
 */
export const setUp = async (port: number): Promise<readonly string[]> => {
  const administrator = await signIn(port, { username: 'admin', password: 'password' })
  const add = async (what: string, record: object) => {
    await send(port, 'POST', `/api/${what}/`, record, administrator)
  }
  await add('mod/plugin', { module: 'oidc', name: 'oidc', display_name: 'Benchmark', parameters: plugin })
  for (const name of `${appScope} ${userScope}`.split(' ')) {
    await add('scope', { name, display_name: name, description: name, password_required: false, scheme: {} })
  }
  await add('client', {
    client_id: client.id,
    name: 'Benchmark',
    confidential: true,
    enabled: true,
    client_secret: client.secret,
    redirect_uri: [client.redirectUri],
    authorization_type: ['code', 'client_credentials', 'refresh_token'],
    token_endpoint_auth_method: ['client_secret_post'],
    scope: appScope.split(' '),
  })
  const cookies: string[] = []
  for (let index = 0; index < memberCount; index += 1) {
    const login = { username: `member-${index}`, password: `password-${index}` }
    const about = { name: `Member ${index}`, email: `member-${index}@example.com`, enabled: true }
    await add('user', { ...login, ...about, scope: userScope.split(' ') })
    const cookie = await signIn(port, login)
    await send(port, 'PUT', `/api/auth/grant/${client.id}`, { scope: userScope }, cookie)
    cookies.push(cookie)
  }
  return cookies
}

/** As many app tokens and grants; of every other grant the access token is wanted, of the rest the refresh token. */
export const addTokens = async (port: number, cookies: readonly string[], live: number): Promise<Material> => {
  const issued = await repeat(live, async () => {
    return await token(port, { grant_type: 'client_credentials', scope: appScope })
  })
  const pairs = await repeat(live, async (index) => {
    const code = await authorize(port, cookies[index % cookies.length])
    const { redirectUri } = client
    const fields = { code, redirect_uri: redirectUri, code_verifier: verifier }
    return await token(port, { grant_type: 'authorization_code', ...fields })
  })
  return {
    client,
    appTokens: issued.map(({ access_token }) => access_token),
    userTokens: pairs.filter((_, index) => index % 2 === 0).map(({ access_token }) => access_token),
    refreshTokens: pairs.filter((_, index) => index % 2 === 1).map(({ refresh_token }) => refresh_token),
  }
}

export const addCodes = async (port: number, cookies: readonly string[], count: number): Promise<readonly string[]> =>
  await repeat(count, async (index) => await authorize(port, cookies[index % cookies.length]))

/** Some at a time; the results stand in order. */
const repeat = async <T>(times: number, once: (index: number) => Promise<T>): Promise<readonly T[]> => {
  const results: T[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < times; index = next++) results[index] = await once(index)
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, worker))
  return results
}

const url = (port: number, path: string): string => `http://127.0.0.1:${port}${path}`

const send = async (port: number, method: string, path: string, body: object, cookie = ''): Promise<Response> => {
  const headers = { 'Content-Type': 'application/json', Cookie: cookie }
  const answer = await fetch(url(port, path), { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`glewlwyd answered ${method} ${path} with ${answer.status}: ${await answer.text()}`)
  return answer
}

const signIn = async (port: number, login: object): Promise<string> => {
  const answer = await send(port, 'POST', '/api/auth/', login)
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const challenge = createHash('sha256').update(verifier).digest('base64url')

/** What the browser of a member is redirected with, who need not be asked. */
const authorize = async (port: number, cookie = ''): Promise<string> => {
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirectUri,
    scope: userScope,
    state: 'bench',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    g_continue: '',
  })
  const headers = { Cookie: cookie }
  const answer = await fetch(url(port, `/api/oidc/auth?${parameters}`), { headers, redirect: 'manual' })
  const code = new URL(answer.headers.get('location') ?? '', client.redirectUri).searchParams.get('code')
  if (code === null) throw new Error(`glewlwyd gave no code but ${answer.status}: ${answer.headers.get('location')}`)
  return code
}

type Tokens = { readonly access_token: string; readonly refresh_token: string }

const token = async (port: number, fields: Readonly<Record<string, string>>): Promise<Tokens> => {
  const body = new URLSearchParams({ client_id: client.id, client_secret: client.secret, ...fields })
  const answer = await fetch(url(port, '/api/oidc/token'), { method: 'POST', body })
  if (!answer.ok) throw new Error(`glewlwyd gave no token but ${answer.status}: ${await answer.text()}`)
  const tokens: Tokens = JSON.parse(await answer.text())
  return tokens
}
