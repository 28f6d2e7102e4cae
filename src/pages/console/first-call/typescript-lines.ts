import { currentApiVersion } from '../../../domain/api-version.ts'
import { placeholderUri } from './curl-lines.ts'
import type { CallFacts } from './facts.ts'

/** The same walk in TypeScript, for Bun, Deno and Node: a module for the app's backend. */
export const typescriptLines = ({ base, clientId, redirectUri, appScope, userScope }: CallFacts): string =>
  `import { createHash, randomBytes } from 'node:crypto'
import { env } from 'node:process'

const base = ${JSON.stringify(base)}
const clientId = ${JSON.stringify(clientId)}
const clientSecret = env.CLIENT_SECRET // from your secret store, never from the code
const redirectUri = ${JSON.stringify(redirectUri ?? placeholderUri)}

const call = async (method: string, path: string, more: { token?: string; body?: object }) => {
  const response = await fetch(base + '/api/app-platform' + path, {
    method,
    headers: {
      'X-Service-Api-Version': ${JSON.stringify(currentApiVersion)},
      'Content-Type': 'application/json',
      ...(more.token ? { Authorization: 'Bearer ' + more.token } : {}),
    },
    ...(more.body ? { body: JSON.stringify(more.body) } : {}),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.code + ' in request ' + answer.error.requestId)
  return answer
}

/** Who the app is. */
export const whoAmI = async () => {
  const body = { clientId, clientSecret, scope: ${JSON.stringify(appScope)} }
  const { accessToken } = await call('POST', '/token', { body })
  return await call('GET', '/me', { token: accessToken })
}

/** Keep the state and the verifier in the user's session, and send the user to the URL. */
export const startAuthorization = () => {
  const state = randomBytes(16).toString('base64url')
  const codeVerifier = randomBytes(32).toString('base64url')
  const url = new URL(base + '/oauth/authorize')
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: ${JSON.stringify(userScope)},
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  return { url: url.href, state, codeVerifier }
}

/** When the user comes back with the state that you kept: the tokens, and who the user is. */
export const finishAuthorization = async (code: string, codeVerifier: string) => {
  const body = { grantType: 'authorization_code', clientId, clientSecret, code, redirectUri, codeVerifier }
  const tokens = await call('POST', '/oauth/token', { body })
  return { tokens, user: await call('GET', '/oauth/me', { token: tokens.accessToken }) }
}`
