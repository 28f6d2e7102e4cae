import { Type } from '@sinclair/typebox'
import { resourceKinds } from '../../domain/resource.ts'
import {
  clientId,
  environment,
  object,
  oneOf,
  recordId,
  scope,
  seconds,
  someText,
  text,
  time,
  model,
} from './fields.ts'

const session = {
  expiresAt: time('When the session ends.'),
  user: object('Who is signed in.', {
    id: recordId('usr', 'The user.'),
    name: text('Name of the user.', 'Ada Example'),
    email: text('Email address of the user.', 'ada@example.com'),
  }),
}

export const signInRequest = model('SignInRequest', 'Who signs in.', {
  email: someText('Email address.', 'ada@example.com', { maxLength: 254 }),
  password: someText('Password.', '<PASSWORD>', { maxLength: 1024 }),
  code: Type.Optional(
    someText('A code of the authenticator app, or a recovery code. Needed after `second_factor_required`.', '123456', {
      maxLength: 64,
    }),
  ),
})
export const signInResponse = model('NewSession', 'The session.', {
  sessionToken: text('Session token, for a bearer header.', '<SESSION_TOKEN>'),
  ...session,
})
export const sessionResponse = model('Session', 'The session and its user.', session)

/** The page of an app in a frame exchanges this for its session. */
export const embeddedSessionRequest = model('EmbeddedSessionRequest', 'What the page of an app was opened with.', {
  clientId,
  code: someText('The code in the URL of the page.', '<INSTALL_SESSION_CODE>'),
})
export const embeddedSessionResponse = model('EmbeddedSession', 'The session of an app in a frame.', {
  sessionToken: text('Session of the page, for a bearer header.', '<EMBEDDED_SESSION_TOKEN>'),
  expiresIn: seconds('Lifetime of the session.', 600),
  install: object('Where the app was opened.', {
    id: recordId('ins', 'The install that the app was opened from.'),
    environment,
    kind: oneOf(resourceKinds, 'Website or store.'),
    resource: text('Short name of the website or store.', 'my-bakery'),
  }),
  scope,
})
