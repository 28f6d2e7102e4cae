import { Type } from '@sinclair/typebox'
import { resourceKinds } from '../../domain/resource.ts'
import { environment, oneOf, recordId, scope, seconds, someText, text, time } from './fields.ts'

const session = {
  expiresAt: time('When the session ends.'),
  user: Type.Object(
    {
      id: recordId('usr', 'The user.'),
      name: text('Name of the user.', 'Ada Example'),
      email: text('Email address of the user.', 'ada@example.com'),
    },
    { description: 'Who is signed in.' },
  ),
}

export const signInRequest = Type.Object({
  email: someText('Email address.', 'ada@example.com', { maxLength: 254 }),
  password: someText('Password.', '<PASSWORD>', { maxLength: 1024 }),
})
export const signInResponse = Type.Object(
  { sessionToken: text('Session token, for a bearer header.', '<SESSION_TOKEN>'), ...session },
  { description: 'The session.' },
)
export const sessionResponse = Type.Object(session, { description: 'The session and its user.' })

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
    kind: oneOf(resourceKinds, 'Website or store.'),
    resource: Type.String(),
  }),
  scope,
})
