import { Type } from '@sinclair/typebox'
import {
  clientId,
  clientSecret,
  environment,
  expiresAt,
  nullableText,
  recordId,
  scope,
  seconds,
  someText,
  text,
  time,
  tokenType,
  model,
} from './fields.ts'

export const appTokenRequest = model('AppTokenRequest', 'The credentials of an app.', { clientId, clientSecret, scope })
export const appTokenResponse = model('AppToken', 'The app token.', {
  accessToken: text('App token, opaque, up to 255 characters.', '<ACCESS_TOKEN>'),
  tokenType,
  expiresIn: seconds('Lifetime of the token.', 3600),
  scope,
  environment,
})

export const appIdentity = model('AppIdentity', 'The calling app.', {
  appId: recordId('app', 'The calling app.'),
  clientId,
  name: text('Name of the app.', 'Newsletter'),
  slug: text('Short name of the app, unique on this server.', 'newsletter'),
  environment,
  status: Type.Literal('active', { description: 'An app that is not active gets no answer.', examples: ['active'] }),
  scope,
  expiresAt,
  createdAt: time('When the app was registered.'),
})

const redirectUri = someText(
  'Redirect URI, equal byte for byte to one registered for the environment of the client.',
  'https://app.example/callback',
)

export const authorizeRequest = model('AuthorizationRequest', 'What the user grants.', {
  clientId,
  redirectUri,
  scope,
  state: someText('Opaque anti-CSRF value, echoed exactly.', 'af0ifjsldkj', { maxLength: 2048 }),
  codeChallenge: text(
    'Base64url SHA-256 of the code verifier: 43 characters (RFC 7636).',
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  ),
  codeChallengeMethod: text('S256, nothing else.', 'S256'),
  consent: Type.Optional(
    Type.Unknown({
      description: 'The JSON value true when the user explicitly consented; anything else is a refusal.',
      examples: [true],
    }),
  ),
})
export const authorizeResponse = model('AuthorizationCode', 'The authorization code and where to take it.', {
  code: text('Authorization code: single use, five minutes.', '<AUTH_CODE>'),
  state: text('The state of the request.', 'af0ifjsldkj'),
  redirectUri,
  redirectTo: text(
    'The redirect URI with code, state and iss (RFC 9207).',
    'https://app.example/callback?code=<AUTH_CODE>&state=af0ifjsldkj&iss=https%3A%2F%2Fplatform.example',
  ),
  scope,
  expiresIn: seconds('Lifetime of the code.', 300),
})

/**
 * Both grant types in one schema. Which fields are required depends on `grantType` and is checked by the endpoint, because an
 * unknown grant type has its own error code.
 */
export const tokenRequest = Type.Object({
  grantType: someText('authorization_code or refresh_token.', 'authorization_code'),
  clientId,
  clientSecret,
  code: Type.Optional(someText('The code; for authorization_code.', '<AUTH_CODE>')),
  redirectUri: Type.Optional(
    someText('The redirect URI of the authorization request; for authorization_code.', 'https://app.example/callback'),
  ),
  codeVerifier: Type.Optional(
    someText(
      'The original verifier, 43 to 128 characters; for authorization_code.',
      'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    ),
  ),
  refreshToken: Type.Optional(someText('The refresh token; for refresh_token.', '<REFRESH_TOKEN>')),
  scope: Type.Optional(
    text('Narrows the access token to some of the scopes of the grant; for refresh_token.', 'profile:read'),
  ),
})
const credentials = { clientId, clientSecret }
/** The same in two schemas, for the document. */
export const documentedTokenRequest = Type.Union(
  [
    model('CodeExchange', 'Exchanges an authorization code.', {
      grantType: Type.Literal('authorization_code', { description: 'A code.', examples: ['authorization_code'] }),
      ...credentials,
      code: someText('The code.', '<AUTH_CODE>'),
      redirectUri,
      codeVerifier: someText(
        'The original verifier, 43 to 128 characters.',
        'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      ),
    }),
    model('TokenRefresh', 'Exchanges a refresh token.', {
      grantType: Type.Literal('refresh_token', { description: 'A refresh token.', examples: ['refresh_token'] }),
      ...credentials,
      refreshToken: someText('The refresh token.', '<REFRESH_TOKEN>'),
      scope: Type.Optional(text('Narrows the access token to some of the scopes of the grant.', 'profile:read')),
    }),
  ],
  {
    title: 'TokenRequest',
    discriminator: {
      propertyName: 'grantType',
      mapping: {
        authorization_code: '#/components/schemas/CodeExchange',
        refresh_token: '#/components/schemas/TokenRefresh',
      },
    },
  },
)
export const tokenResponse = model('UserTokens', 'A fresh pair of tokens; whatever was presented is spent.', {
  accessToken: text('User access token, opaque.', '<ACCESS_TOKEN>'),
  tokenType,
  expiresIn: seconds('Lifetime of the access token.', 3600),
  refreshToken: text('Good for one refresh, opaque.', '<REFRESH_TOKEN>'),
  refreshTokenExpiresIn: seconds('Lifetime of the refresh token.', 2592000),
  scope,
  grantId: recordId('grt', 'The grant that the tokens belong to.'),
})

const issuedTo = {
  id: recordId('usr', 'The signed-in user.'),
  appId: recordId('app', 'The app that the token was issued to.'),
  clientId,
}
const asFarAsScopesAllow = {
  scope,
  expiresAt,
  name: Type.Optional(text('With profile:read.', 'Ada Example')),
  pictureUrl: Type.Optional(nullableText('With profile:read; null if unset.', 'https://pictures.example/ada.png')),
  email: Type.Optional(text('With profile.email:read.', 'ada@example.com')),
}
export const userIdentity = model('UserIdentity', 'The signed-in user, as far as the scopes allow.', {
  ...issuedTo,
  grantId: recordId('grt', 'The grant behind the token.'),
  ...asFarAsScopesAllow,
})
/** Not part of the contract: the session of an app in a frame belongs to an install, not to a grant. */
export const embeddedIdentity = model('EmbeddedIdentity', 'The same for the session of an app in a frame.', {
  ...issuedTo,
  installId: recordId('ins', 'The install behind the embedded session.'),
  ...asFarAsScopesAllow,
})

/** Three callers in one schema: an app with its credentials, a bearer token with `{}`, a user with a grant ID. */
export const revokeRequest = model(
  'RevocationRequest',
  'What to revoke: a token of an app, the bearer token itself ({}), or a grant of the signed-in user.',
  {
    clientId: Type.Optional(clientId),
    clientSecret: Type.Optional(clientSecret),
    token: Type.Optional(someText('The token that an app revokes.', '<REFRESH_TOKEN>')),
    tokenTypeHint: Type.Optional(text('Accepted and not needed: a token says what it is.', 'refresh_token')),
    grantId: Type.Optional(
      someText('The grant that a signed-in user takes back.', 'grt_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d'),
    ),
  },
)
export const revokeResponse = model('Revocation', 'It no longer works.', {
  revoked: Type.Literal(true, { description: 'Also for a token that was unknown or dead.', examples: [true] }),
})
