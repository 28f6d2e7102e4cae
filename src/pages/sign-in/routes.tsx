import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { isFromSameOrigin, readCookie, sessionCookie } from '../../http/session-cookie.ts'
import { signInHere } from '../../http/sign-in-limit.ts'
import { authorizationPath } from '../../http/standard/paths.ts'
import { signOut } from '../../operations/sessions/own-sessions.ts'
import { appOrigins } from '../app-origins.ts'
import { formFields, forms, readFields, staleForm } from '../form.ts'
import { outcomeOf } from '../outcome.ts'
import { page, seeOther } from '../page.ts'
import { safeReturnTo } from '../return-to.ts'
import { findVisit, signedIn, visitOf } from '../visit.ts'
import { SignInPage } from './sign-in-page.tsx'
import { visitorOf } from './visitor.ts'

/** Into the pages and out of them. */
export const signInRoutes = (door: Door) =>
  new Elysia().use(signInPage(door)).use(signInForm(door)).use(signOutForm(door))

const signInPage = (door: Door) =>
  new Elysia().get('/sign-in', async ({ request }) => {
    const returnTo = safeReturnTo(new URL(request.url).searchParams.get('return_to'), door.platform.publicUrl)
    if ((await findVisit(door, request)) !== null) return seeOther(returnTo)
    // A session that is over is forgotten here, or every page would go on presenting it and be refused.
    const forgotten = readCookie(door, request, 'session') === null ? [] : [sessionCookie(door, '', 0)]
    return showForm(door, request, { returnTo, email: '', error: null }, forgotten)
  })

type Shown = { readonly returnTo: string; readonly email: string; readonly error: PlatformError | null }

const showForm = (door: Door, request: Request, shown: Shown, more: readonly string[] = []): Response => {
  const { tickets, cookies } = visitorOf(door, request)
  const isForApp = leadsToApps(shown.returnTo)
  const options = {
    refusal: shown.error,
    cookies: [...cookies, ...more],
    ...(isForApp ? { formTarget: appOrigins } : {}),
  }
  const { platformName } = door.platform
  return page(<SignInPage platformName={platformName} tickets={tickets} isForApp={isForApp} {...shown} />, options)
}

/** The question of an app may be answered at once, when something has come to be wrong with it. */
const leadsToApps = (path: string): boolean => path.startsWith(`${authorizationPath}?`)

/** Only a form that this browser was shown signs it in: else another site could sign a visitor in as somebody else. */
const signInForm = (door: Door) =>
  new Elysia()
    .onParse({ as: 'local' }, () => ({}))
    .onTransform({ as: 'local' }, async (context) => {
      context.body = await readFields(context.request)
    })
    .post(
      '/sign-in',
      async ({ body, request }) => {
        const { email, password, ticket } = body
        const returnTo = safeReturnTo(body.return_to, door.platform.publicUrl)
        const again = (error: PlatformError) => showForm(door, request, { returnTo, email, error })
        const key = visitorOf(door, request).tickets.read('/sign-in', [], ticket)
        if (key === null || !isFromSameOrigin(door, request))
          return again(refuse('origin_not_allowed', { message: staleForm }))
        const outcome = await enter(door, request, { email, password })
        if (outcome.kind === 'refused') return again(outcome.error)
        return seeOther(returnTo, outcome.value.cookies)
      },
      { body: formFields({ email: Type.String(), password: Type.String(), return_to: Type.String() }) },
    )

const enter = async (
  door: Door,
  request: Request,
  credentials: { readonly email: string; readonly password: string },
) => {
  const before = await findVisit(door, request)
  const outcome = await outcomeOf(signInHere(door, callOf(request), credentials))
  if (outcome.kind === 'done' && before !== null) await signOut(door.platform, before.trace, before.session)
  return outcome
}

const signOutForm = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .post(
      '/sign-out',
      async ({ request }) => {
        const { session, trace } = visitOf(request)
        await signOut(door.platform, trace, session)
        return seeOther('/sign-in', [sessionCookie(door, '', 0)])
      },
      { body: formFields({}) },
    )
