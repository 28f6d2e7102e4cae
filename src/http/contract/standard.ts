/** Bodies of the standard wire format: snake_case, as the RFCs have them. */
import { Type } from '@sinclair/typebox'
import { environments } from '../../domain/app.ts'
import { resourceKinds } from '../../domain/resource.ts'
import {
  clientId,
  clientSecret,
  flag,
  model,
  nullableText,
  object,
  oneOf,
  recordId,
  scope,
  seconds,
  text,
  tokenType,
} from './fields.ts'

/** RFC 6749 section 5.1. */
export const tokenAnswer = model('StandardTokens', 'The tokens.', {
  access_token: text('Access token, opaque.', '<ACCESS_TOKEN>'),
  token_type: tokenType,
  expires_in: seconds('Lifetime of the access token.', 3600),
  refresh_token: Type.Optional(text('Good for one refresh; none for client_credentials.', '<REFRESH_TOKEN>')),
  scope,
})

/** With HTTP Basic, the client is not in the form (RFC 6749 section 2.3.1). */
const clientFields = { client_id: Type.Optional(clientId), client_secret: Type.Optional(clientSecret) }
export const tokenForm = model('StandardTokenRequest', 'The fields of RFC 6749, for each grant type.', {
  grant_type: oneOf(['authorization_code', 'refresh_token', 'client_credentials'], 'What is exchanged for tokens.'),
  ...clientFields,
  code: Type.Optional(text('The code; for authorization_code.', '<AUTH_CODE>')),
  redirect_uri: Type.Optional(text('That of the request; for authorization_code.', 'https://app.example/callback')),
  code_verifier: Type.Optional(
    text('The PKCE verifier; for authorization_code.', 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'),
  ),
  refresh_token: Type.Optional(text('The refresh token; for refresh_token.', '<REFRESH_TOKEN>')),
  scope: Type.Optional(scope),
  resource: Type.Optional(text('This API, if stated (RFC 8707).', 'https://platform.example/api/app-platform')),
})
/** RFC 7009 section 2.1 and RFC 7662 section 2.1. */
export const tokenInQuestion = model('StandardTokenInQuestion', 'The token to revoke or to ask about.', {
  ...clientFields,
  token: text('The token.', '<ACCESS_TOKEN>'),
  token_type_hint: Type.Optional(text('Accepted and not needed: a token says what it is.', 'access_token')),
})

/** RFC 7662 section 2.2. */
export const introspectionAnswer = model('Introspection', 'What is known of the token; of a dead one nothing.', {
  active: flag('Whether the token works.', true),
  scope: Type.Optional(scope),
  client_id: Type.Optional(clientId),
  token_type: Type.Optional(
    oneOf(
      ['Bearer', 'embedded_session'],
      'Bearer; embedded_session for that of a framed page; none for a refresh token.',
    ),
  ),
  exp: Type.Optional(seconds('When it expires, since 1970.', 1785589200)),
  iat: Type.Optional(seconds('When it was issued, since 1970.', 1785585600)),
  sub: Type.Optional(text('The user, or the client of an app token.', 'usr_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d')),
  iss: Type.Optional(text('This server.', 'https://platform.example')),
  install_id: Type.Optional(recordId('ins', 'The install that a framed page is open for.')),
  resource: Type.Optional(
    object('The website or store that a framed page is open for.', {
      kind: oneOf(resourceKinds, 'Website or store.'),
      id: nullableText("The builder's own ID of it; null if it has none.", '17'),
    }),
  ),
  app_id: Type.Optional(recordId('app', 'The app; only for a service key.')),
  environment: Type.Optional(oneOf(environments, 'Environment of the client; only for a service key.')),
  external_id: Type.Optional(text("The builder's own ID of the user; only for a service key.", '42')),
  resources: Type.Optional(
    Type.Array(Type.String(), {
      description: "Where the app is installed: kinds and the builder's own IDs; only for a service key.",
      examples: [['site:7']],
    }),
  ),
})
