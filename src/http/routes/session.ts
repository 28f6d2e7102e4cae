import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import { signOut } from '../../operations/sessions/own-sessions.ts'
import { copyForElysia } from '../contract/copy-for-elysia.ts'
import { bodyErrors, plainErrorResponses } from '../contract/errors.ts'
import { sessionResponse, signInRequest, signInResponse } from '../contract/sessions.ts'
import type { Door } from '../door.ts'
import { jsonBody } from '../json-body.ts'
import { callOf } from '../call.ts'
import { requireSession, sessionCookie } from '../session-cookie.ts'
import { signInHere } from '../sign-in-limit.ts'
import { wireTime } from '../wire.ts'
import { plainDetails } from './operation-details.ts'

const path = '/api/session'

/** Signing in and out, beside the contract (contract section 6). */
export const sessionRoutes = (door: Door) => new Elysia().use(start(door)).use(tell(door))

const start = (door: Door) =>
  new Elysia().use(jsonBody(signInRequest)).post(
    path,
    async ({ body, request, set }) => {
      if (isForeign(door, request)) throw refuse('origin_not_allowed')
      const signedIn = await signInHere(door, callOf(request), body)
      set.headers['set-cookie'] = signedIn.cookies
      return { sessionToken: signedIn.sessionToken, expiresAt: wireTime(signedIn.expiresAt), user: signedIn.user }
    },
    {
      body: copyForElysia(signInRequest),
      response: {
        200: copyForElysia(signInResponse),
        ...plainErrorResponses(...bodyErrors, 'invalid_login', 'origin_not_allowed'),
      },
      detail: plainDetails({
        id: 'signIn',
        summary: 'Sign a user in',
        description: 'Answers with a session token and sets the session cookie.',
        tag: 'Session',
        callers: ['none'],
      }),
    },
  )

/** A page of another origin may not sign a browser in: the visitor would act as somebody else without knowing. */
const isForeign = (door: Door, request: Request): boolean => {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  return site === null
    ? origin !== null && origin !== door.platform.publicUrl
    : site !== 'same-origin' && site !== 'none'
}

const tell = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => ({ session: await requireSession(door, callOf(request)) }))
    .get(
      path,
      async ({ session }) => ({
        expiresAt: wireTime(session.expiresAt),
        user: { id: session.user.id, name: session.user.name, email: session.user.email },
      }),
      {
        response: {
          200: copyForElysia(sessionResponse),
          ...plainErrorResponses('login_required', 'token_type_not_allowed', 'origin_not_allowed'),
        },
        detail: plainDetails({
          id: 'readSession',
          summary: 'Who is signed in',
          description: 'By session token, or by cookie with proof of the same origin.',
          tag: 'Session',
          callers: ['session'],
        }),
      },
    )
    .delete(
      path,
      async ({ session, request, set }) => {
        await signOut(door.platform, callOf(request), session)
        set.headers['set-cookie'] = sessionCookie(door, '', 0)
        set.status = 204
      },
      {
        response: {
          204: Type.Void({ description: 'The session is over.' }),
          ...plainErrorResponses(
            'payload_too_large',
            'unsupported_media_type',
            'login_required',
            'token_type_not_allowed',
            'origin_not_allowed',
          ),
        },
        detail: plainDetails({
          id: 'signOut',
          summary: 'End the session',
          description: 'The session is refused from the answer on (204).',
          tag: 'Session',
          callers: ['session'],
        }),
      },
    )
