import * as story from './support/story.mjs'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SCOPE, APP_SCOPE } = story

// #region guide
import * as client from 'openid-client'

const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, { algorithm: 'oauth2' })

// Keep the verifier and the state in the session of the browser that is sent to the URL.
const pkceCodeVerifier = client.randomPKCECodeVerifier()
const expectedState = client.randomState()
const authorizationUrl = client.buildAuthorizationUrl(config, {
  redirect_uri: REDIRECT_URI,
  scope: SCOPE,
  state: expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: 'S256',
})

/** `url` is what the browser came back to. */
const exchange = async (url) => await client.authorizationCodeGrant(config, url, { pkceCodeVerifier, expectedState })
// #endregion

const refresh = async (refreshToken) => await client.refreshTokenGrant(config, refreshToken)
const introspect = async (token) => await client.tokenIntrospection(config, token)
const revoke = async (token) => await client.tokenRevocation(config, token)
const ownToken = async () => await client.clientCredentialsGrant(config, { scope: APP_SCOPE })

const version = new Headers({ 'X-Service-Api-Version': '2026-08' })
const call = async (url, token) => await client.fetchProtectedResource(config, token, url, 'GET', null, version)

const withSecret = async (secret) =>
  await client.discovery(new URL(ISSUER), CLIENT_ID, secret, undefined, { algorithm: 'oauth2' })
const ownTokenWith = async (secret) =>
  await client.clientCredentialsGrant(await withSecret(secret), { scope: APP_SCOPE })

const metadata = config.serverMetadata()
await story.live({ metadata, authorizationUrl, exchange, refresh, introspect, revoke, ownToken, ownTokenWith, call })
