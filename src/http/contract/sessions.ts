import { Type } from '@sinclair/typebox'
import { environment, recordId, scope, seconds, time } from './fields.ts'

const user = Type.Object(
  {
    id: recordId('usr', 'The user.'),
    name: Type.String({ description: 'Name of the user.', examples: ['Ada Example'] }),
    email: Type.String({ description: 'Email address of the user.', examples: ['ada@example.com'] }),
  },
  { description: 'Who is signed in.' },
)

export const signInRequest = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254, description: 'Email address.', examples: ['ada@example.com'] }),
  password: Type.String({ minLength: 1, maxLength: 1024, description: 'Password.', examples: ['<PASSWORD>'] }),
})
export const signInResponse = Type.Object(
  {
    sessionToken: Type.String({ description: 'Session token, for a bearer header.', examples: ['<SESSION_TOKEN>'] }),
    expiresAt: time('When the session ends.'),
    user,
  },
  { description: 'The session.' },
)
export const sessionResponse = Type.Object(
  { expiresAt: time('When the session ends.'), user },
  { description: 'The session and its user.' },
)

/** The page of an app in a frame exchanges this for its session. */
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
