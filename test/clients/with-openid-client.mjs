import * as client from 'openid-client'
import { apiHeaders, APP_SCOPE, CLIENT_ID, CLIENT_SECRET, ISSUER, live, REDIRECT_URI, SCOPE } from './support/story.mjs'

const configure = async (secret) =>
  await client.discovery(new URL(ISSUER), CLIENT_ID, secret, undefined, { algorithm: 'oauth2' })

const config = await configure(CLIENT_SECRET)
const pkceCodeVerifier = client.randomPKCECodeVerifier()
const expectedState = client.randomState()

await live({
  metadata: config.serverMetadata(),
  authorizationUrl: client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  }),
  exchange: async (callback) =>
    await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState }),
  call: async (url, token) => await client.fetchProtectedResource(config, token, url, 'GET', null, apiHeaders),
  refresh: async (token) => await client.refreshTokenGrant(config, token),
  introspect: async (token) => await client.tokenIntrospection(config, token),
  revoke: async (token) => await client.tokenRevocation(config, token),
  ownToken: async () => await client.clientCredentialsGrant(config, { scope: APP_SCOPE }),
  ownTokenWith: async (secret) => await client.clientCredentialsGrant(await configure(secret), { scope: APP_SCOPE }),
})
