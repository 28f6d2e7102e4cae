import { Type } from '@sinclair/typebox'
import { environment, recordId, scope, seconds } from './fields.ts'

/** What the page of an app in a frame exchanges for its session. */
export const embeddedSessionRequest = Type.Object({
  clientId: Type.String({ minLength: 1 }),
  code: Type.String({ minLength: 1 }),
})
export const embeddedSessionResponse = Type.Object({
  sessionToken: Type.String(),
  expiresIn: seconds('Lifetime of the session.', 600),
  install: Type.Object({
    id: recordId('ins', 'The install that the app was opened from.'),
    environment,
    kind: Type.Union([Type.Literal('site'), Type.Literal('store')]),
    resource: Type.String(),
  }),
  scope,
})
