import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { authorizationRequestOf, readAuthorizationParameters } from '../../domain/authorization-request.ts'
import type { Door } from '../../http/door.ts'
import { sessionCookie } from '../../http/session-cookie.ts'
import { signOut } from '../../operations/sessions/own-sessions.ts'
import { formFields, forms } from '../old-forms.ts'
import { seeOther } from '../page.ts'
import { signedIn, visitOf } from '../visit.ts'
import { signInPath, switchAccountPath } from './paths.ts'

/** "Not you?": signs out, and after signing in as somebody else the same question is asked. */
export const switchAccountRoute = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .post(
      switchAccountPath,
      async ({ body, request }) => {
        const { session, trace } = visitOf(request)
        await signOut(door.platform, trace, session)
        const asked = authorizationRequestOf(readAuthorizationParameters(body.request))
        return seeOther(signInPath(asked), [sessionCookie(door, '', 0)])
      },
      { body: formFields({ request: Type.String() }) },
    )
