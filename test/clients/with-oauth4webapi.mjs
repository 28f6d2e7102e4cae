import * as story from './support/story.mjs'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SCOPE, APP_SCOPE } = story

// #region guide
import * as oauth from 'oauth4webapi'

const issuer = new URL(ISSUER)
const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
const server = await oauth.processDiscoveryResponse(issuer, discovered)
const client = { client_id: CLIENT_ID }
const clientAuth = oauth.ClientSecretBasic(CLIENT_SECRET)

// Keep the verifier and the state in the session of the browser that is sent to the URL.
const codeVerifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()
const authorizationUrl = new URL(server.authorization_endpoint)
authorizationUrl.search = new URLSearchParams({
  response_type: 'code',
  client_id: CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  scope: SCOPE,
  state,
  code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
  code_challenge_method: 'S256',
}).toString()

/** `url` is what the browser came back to. */
const exchange = async (url) => {
  const answer = oauth.validateAuthResponse(server, client, url, state)
  const grant = [clientAuth, answer, REDIRECT_URI, codeVerifier]
  const response = await oauth.authorizationCodeGrantRequest(server, client, ...grant)
  return await oauth.processAuthorizationCodeResponse(server, client, response)
}
// #endregion

const refresh = async (refreshToken) => {
  const response = await oauth.refreshTokenGrantRequest(server, client, clientAuth, refreshToken)
  return await oauth.processRefreshTokenResponse(server, client, response)
}
const introspect = async (token) => {
  const response = await oauth.introspectionRequest(server, client, clientAuth, token)
  return await oauth.processIntrospectionResponse(server, client, response)
}
const revoke = async (token) =>
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, clientAuth, token))
const ownToken = async (auth = clientAuth) => {
  const response = await oauth.clientCredentialsGrantRequest(server, client, auth, { scope: APP_SCOPE })
  return await oauth.processClientCredentialsResponse(server, client, response)
}

const version = new Headers({ 'X-Service-Api-Version': '2026-08' })
const call = async (url, token) => await oauth.protectedResourceRequest(token, 'GET', url, version)

const metadata = server
const ownTokenWith = async (secret) => await ownToken(oauth.ClientSecretBasic(secret))
await story.live({ metadata, authorizationUrl, exchange, refresh, introspect, revoke, ownToken, ownTokenWith, call })
