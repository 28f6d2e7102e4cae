import * as oauth from 'oauth4webapi'
import { apiHeaders, APP_SCOPE, CLIENT_ID, CLIENT_SECRET, ISSUER, live, REDIRECT_URI, SCOPE } from './support/story.mjs'

const issuer = new URL(ISSUER)
const as = await oauth
  .discoveryRequest(issuer, { algorithm: 'oauth2' })
  .then((response) => oauth.processDiscoveryResponse(issuer, response))
const client = { client_id: CLIENT_ID }
const clientAuth = oauth.ClientSecretBasic(CLIENT_SECRET)

const codeVerifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()
const authorizationUrl = new URL(as.authorization_endpoint)
authorizationUrl.searchParams.set('client_id', client.client_id)
authorizationUrl.searchParams.set('redirect_uri', REDIRECT_URI)
authorizationUrl.searchParams.set('response_type', 'code')
authorizationUrl.searchParams.set('scope', SCOPE)
authorizationUrl.searchParams.set('state', state)
authorizationUrl.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(codeVerifier))
authorizationUrl.searchParams.set('code_challenge_method', 'S256')

const ownToken = async (auth) => {
  const response = await oauth.clientCredentialsGrantRequest(as, client, auth, { scope: APP_SCOPE })
  return await oauth.processClientCredentialsResponse(as, client, response)
}

await live({
  metadata: as,
  authorizationUrl,
  exchange: async (callback) => {
    const params = oauth.validateAuthResponse(as, client, callback, state)
    const answer = await oauth.authorizationCodeGrantRequest(as, client, clientAuth, params, REDIRECT_URI, codeVerifier)
    return await oauth.processAuthorizationCodeResponse(as, client, answer)
  },
  call: async (url, token) => await oauth.protectedResourceRequest(token, 'GET', url, apiHeaders),
  refresh: async (token) => {
    const response = await oauth.refreshTokenGrantRequest(as, client, clientAuth, token)
    return await oauth.processRefreshTokenResponse(as, client, response)
  },
  introspect: async (token) => {
    const response = await oauth.introspectionRequest(as, client, clientAuth, token)
    return await oauth.processIntrospectionResponse(as, client, response)
  },
  revoke: async (token) =>
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, clientAuth, token)),
  ownToken: async () => await ownToken(clientAuth),
  ownTokenWith: async (secret) => await ownToken(oauth.ClientSecretBasic(secret)),
})
