import { Type } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { exchangeInstallSessionCode } from '../../operations/embedding/embedding.ts'
import type { PendingSignIn, SignedIn } from '../../operations/sessions/entry.ts'
import { signOut } from '../../operations/sessions/own-sessions.ts'
import { withClientLimits } from '../limits.ts'
import * as contract from '../contract/sessions.ts'
import { forgetCookie } from '../cookies.ts'
import { openToKnownOrigin } from '../cross-origin.ts'
import type { Door } from '../door.ts'
import { endpoint, type Guard, jsonBody } from '../endpoint.ts'
import { signedInUser } from '../session-cookie.ts'
import type { Call } from '../call.ts'
import { enteredCookies, finishHere, signInHere } from '../sign-in-limit.ts'
import { wireTime } from '../wire.ts'

const path = '/api/session'

export const signInEndpoint = endpoint({
  method: 'POST',
  path,
  body: jsonBody(contract.signInRequest),
  answers: { 200: contract.signInResponse },
  errors: ['invalid_login', 'second_factor_required', 'origin_not_allowed'],
  details: {
    id: 'signIn',
    summary: 'Sign a user in',
    description:
      'Answers with a session token and sets the session cookie. A user with a second factor sends a code of it in the same request.',
    tag: 'Session',
  },
  run: async (door, call, { body }) => {
    if (isForeign(door, call.request)) throw refuse('origin_not_allowed')
    const entry = await signInHere(door, call, body)
    const signedIn = entry.kind === 'signed_in' ? entry : await withCode(door, call, entry, body.code)
    call.headers = { 'set-cookie': enteredCookies(door, call, signedIn) }
    const { sessionToken, expiresAt, user } = signedIn
    return { sessionToken, expiresAt: wireTime(expiresAt), user: { id: user.id, name: user.name, email: user.email } }
  },
})

/** A program cannot set up a second factor: the pages do that. */
const withCode = async (
  door: Door,
  call: Call,
  pending: PendingSignIn,
  code: string | undefined,
): Promise<SignedIn> => {
  if (pending.need === 'enrolment') throw refuse('second_factor_required', { message: setUpFirst })
  if (code === undefined) throw refuse('second_factor_required', { param: 'code' })
  return await finishHere(door, call, pending, { kind: 'code', code })
}

const setUpFirst = 'A second factor is required of this account: sign in on the pages to set one up.'

/** A page of another origin may not sign a browser in: the visitor would act as somebody else without knowing it. */
const isForeign = (door: Door, { headers }: Request): boolean => {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  return site === null
    ? origin !== null && origin !== door.platform.publicUrl
    : site !== 'same-origin' && site !== 'none'
}

export const readSession = endpoint({
  method: 'GET',
  path,
  caller: signedInUser,
  answers: { 200: contract.sessionResponse },
  details: {
    id: 'readSession',
    summary: 'Who is signed in',
    description: 'By session token, or by cookie with proof of the same origin.',
    tag: 'Session',
  },
  run: (_, __, { caller: { expiresAt, user } }) => ({
    expiresAt: wireTime(expiresAt),
    user: { id: user.id, name: user.name, email: user.email },
  }),
})

export const signOutEndpoint = endpoint({
  method: 'DELETE',
  path,
  caller: signedInUser,
  answers: { 204: Type.Void({ description: 'The session has ended.' }) },
  details: {
    id: 'signOut',
    summary: 'End the session',
    description: 'The session is refused from the answer on (204).',
    tag: 'Session',
  },
  run: async (door, call, { caller }) => {
    await signOut(door.platform, call, caller)
    call.headers = { 'set-cookie': forgetCookie(door, 'session') }
    call.status = 204
  },
})

/** Any page; those of an origin that an app has lately been opened from may read the answer. */
const pageInFrame: Guard<boolean> = { callers: ['none'], errors: [], admit: openToKnownOrigin }

/** The exchange for the page of an app in a frame. It is not part of the exposed contract (spec section 1). */
export const startEmbeddedSession = endpoint({
  method: 'POST',
  path: '/api/embedded/session',
  caller: pageInFrame,
  body: jsonBody(contract.embeddedSessionRequest),
  answers: { 200: contract.embeddedSessionResponse },
  errors: ['invalid_grant', 'install_required', 'origin_not_allowed'],
  details: {
    id: 'startEmbeddedSession',
    summary: 'Start the session of an app in a frame',
    description: 'Called by the page of the app with the code that it was opened with, from the origin of the app.',
    tag: 'Session',
  },
  isCrossOrigin: true,
  run: async (door, call, { body: { clientId, code } }) => {
    const origin = call.request.headers.get('origin')
    const issued = await withClientLimits(door, call, clientId, 'install_session_code', () =>
      exchangeInstallSessionCode(door.platform, call, { clientId, code, origin }),
    )
    const { notes } = call
    notes.appId = issued.appId
    notes.clientId = clientId
    notes.userId = issued.userId
    door.platform.observe.issued('embedded_session')
    return {
      sessionToken: issued.sessionToken,
      expiresIn: issued.expiresInSeconds,
      install: issued.install,
      scope: issued.scope,
    }
  },
})
