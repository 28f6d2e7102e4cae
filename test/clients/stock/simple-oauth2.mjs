import { createInterface } from 'node:readline'
import { APP_URL, CLIENT_ID, CLIENT_SECRET, ISSUER } from './settings.mjs'

// #region guide
import { createHash, randomBytes } from 'node:crypto'
import { AuthorizationCode } from 'simple-oauth2'

const client = new AuthorizationCode({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: { tokenHost: ISSUER },
})

const redirectUri = `${APP_URL}/signed-in`

// Keep the verifier and the state in the session of the browser that is sent to the URL.
const verifier = randomBytes(32).toString('base64url')
const state = randomBytes(16).toString('base64url')
const authorizationUrl = client.authorizeURL({
  redirect_uri: redirectUri,
  scope: 'profile:read profile.email:read',
  state,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
})

/** `url` is what the browser came back to. */
const exchange = async (url) => {
  const answer = url.searchParams
  if (answer.get('state') !== state || answer.get('iss') !== ISSUER) throw new Error('This is not an answer to us.')
  if (answer.has('error')) throw new Error(answer.get('error'))
  return await client.getToken({ code: answer.get('code'), redirect_uri: redirectUri, code_verifier: verifier })
}
// #endregion

/** Who the bearer is, or the status of the refusal. */
const whoIs = async ({ token }) => {
  const answer = await fetch(`${ISSUER}/oauth/userinfo`, { headers: { authorization: `Bearer ${token.access_token}` } })
  return answer.ok ? (await answer.json()).sub : answer.status
}

console.log(authorizationUrl)
for await (const line of createInterface({ input: process.stdin })) {
  const [word = '', url = ''] = line.split(' ')
  const first = await exchange(new URL(url))
  // Two workers of the app refresh at once.
  const [second, other] = await Promise.all([first.refresh(), first.refresh()])
  const isSame = second.token.refresh_token === other.token.refresh_token
  const told = { first: await whoIs(first), second: await whoIs(second), isSame, expires: second.expired() }
  if (word === 'revokeAll') await second.revokeAll()
  else await second.revoke(word)
  const refreshed = await second.refresh().catch((error) => error.data.payload.error)
  console.log(JSON.stringify({ ...told, revoked: await whoIs(second), refreshed }))
  break
}
