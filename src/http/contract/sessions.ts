import { Type } from '@sinclair/typebox'
import { resourceKinds } from '../../domain/resource.ts'
import { environment, object, oneOf, recordId, scope, seconds, someText, text, time } from './fields.ts'

const session = {
  expiresAt: time('When the session ends.'),
  user: object('Who is signed in.', {
    id: recordId('usr', 'The user.'),
    name: text('Name of the user.', 'Ada Example'),
    email: text('Email address of the user.', 'ada@example.com'),
  }),
}

export const signInRequest = Type.Object({
  email: someText('Email address.', 'ada@example.com', { maxLength: 254 }),
  password: someText('Password.', '<PASSWORD>', { maxLength: 1024 }),
})
export const signInResponse = object('The session.', {
  sessionToken: text('Session token, for a bearer header.', '<SESSION_TOKEN>'),
  ...session,
})
export const sessionResponse = object('The session and its user.', session)

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
