import { Type } from '@sinclair/typebox'
import { clientId, clientSecret, environment, expiresAt, recordId, scope, seconds, time, tokenType } from './fields.ts'

export const appTokenRequest = Type.Object({ clientId, clientSecret, scope })
export const appTokenResponse = Type.Object(
  {
    accessToken: Type.String({ description: 'App token, opaque, up to 255 characters.', examples: ['<ACCESS_TOKEN>'] }),
    tokenType,
    expiresIn: seconds('Lifetime of the token.', 3600),
    scope,
    environment,
  },
  { description: 'The app token.' },
)

export const appIdentity = Type.Object(
  {
    appId: recordId('app', 'The calling app.'),
    clientId,
    name: Type.String({ description: 'Name of the app.', examples: ['Newsletter'] }),
    slug: Type.String({ description: 'Short name of the app, unique on this server.', examples: ['newsletter'] }),
    environment,
    status: Type.Literal('active', { description: 'An app that is not active gets no answer.', examples: ['active'] }),
    scope,
    expiresAt,
    createdAt: time('When the app was registered.'),
  },
  { description: 'The calling app.' },
)
