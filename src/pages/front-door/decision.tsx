import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  authorizationQueryOf,
  type AuthorizationRequest,
  authorizationRequestOf,
  readAuthorizationParameters,
} from '../../domain/authorization-request.ts'
import { PlatformError } from '../../domain/errors.ts'
import { type Call, callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { takeShare } from '../../http/limits.ts'
import { cookieValues, forgetCookie } from '../../http/cookies.ts'
import { presentedToken } from '../../http/session-cookie.ts'
import { authorizationPath } from '../../http/paths.ts'
import { type Decided, decideConsent } from '../../operations/oauth/authorize.ts'
import { signOut } from '../../operations/sessions/own-sessions.ts'
import { fieldsOf, formOf, originFault, readValues, receiveFromUser, refuseForm, text, ticketKey } from '../form.ts'
import { RightAddress } from '../design/field.tsx'
import { Layout, type PlatformFrame, RequestLine } from '../design/shell.tsx'
import { page, seeOther } from '../page.ts'
import { findVisit, refuseVisit, type Visit } from '../visit.ts'
import { askPath, goToApp, signInPath, switchAccountPath, unansweredPage } from './failed-request.tsx'

/** A person has this long to decide. After that they are asked again. */
const consentLifetimeSeconds = 600

/** The ticket binds the decision to the session and to the whole request that the page showed. */
const decisionForm = formOf({ request: text, decision: Type.Union([Type.Literal('allow'), Type.Literal('deny')]) }, [
  'request',
])
const switchForm = formOf({ request: text })

/** The decision about an app's request, and the way to another account. */
export const decisionRoutes = (door: Door) =>
  new Elysia()
    .post(authorizationPath, async ({ request }) => await decide(door, request))
    .post(switchAccountPath, async ({ request }) => {
      const { visit, fields } = await receiveFromUser(door, request, switchForm, 'takes away', 'session')
      await signOut(door.platform, visit.call, visit.session)
      const asked = authorizationRequestOf(readAuthorizationParameters(fields.request))
      return seeOther(signInPath(asked), [forgetCookie(door, 'session')])
    })

const decide = async (door: Door, request: Request): Promise<Response> => {
  const call = callOf(request)
  const values = await readValues(call, decisionForm)
  const fields = fieldsOf(decisionForm, values)
  const asked = authorizationRequestOf(readAuthorizationParameters(fields.request))
  const foreign = originFault(door, request)
  if (foreign !== null) {
    const error = await refuseForm(door, call, presentedToken(cookieValues(door, request, 'session')) ?? '', foreign)
    return lostDecisionPage(door.platform, call, { error, startAgain: null })
  }
  const visit = await findVisit(door, request)
  if (visit === null) {
    // The session ended while the page was open. Nothing is decided, and the person is asked again after signing in.
    await refuseVisit(door, request)
    return seeOther(signInPath(asked, 'ended'))
  }
  takeShare(door, call, 'authorize', visit.userId)
  const ticket = ticketKey(door, call, visit.tickets, decisionForm, values, consentLifetimeSeconds)
  if (ticket instanceof PlatformError) {
    const error = await refuseForm(door, call, visit.sessionToken, ticket)
    return lostDecisionPage(door.platform, call, { error, startAgain: askPath(asked) })
  }
  return await carryOut(visit, { request: asked, answer: fields.decision, ticket })
}

const carryOut = async (visit: Visit, decided: Decided): Promise<Response> => {
  const { door, call, session } = visit
  const { notes } = call
  notes.clientId = decided.request.clientId
  try {
    const { redirectTo, issued } = await decideConsent(door.platform, call, session, decided)
    if (issued !== null) {
      notes.appId = issued.appId
      notes.grantId = issued.grantId
      door.platform.observe.issued('authorization_code')
    }
    return goToApp(door, call.request, redirectTo)
  } catch (error) {
    return await afterFailure(visit, decided.request, error)
  }
}

const afterFailure = async (visit: Visit, asked: AuthorizationRequest, error: unknown): Promise<Response> => {
  const { door, call } = visit
  if (!(error instanceof PlatformError)) throw error
  switch (error.code) {
    case 'idempotency_key_reused':
      return lostDecisionPage(door.platform, call, { error, startAgain: askPath(asked) })
    case 'login_required':
      return seeOther(signInPath(asked, 'ended'))
    default:
      return await unansweredPage(door, call, error, {
        visit,
        parameters: readAuthorizationParameters(authorizationQueryOf(asked)),
      })
  }
}

type LostDecision = {
  readonly error: PlatformError
  /** The address that asks again; null when another site may have written the request. */
  readonly startAgain: string | null
}

/** The page for a decision that was not carried out: it was sent before, or its form is no longer valid. */
export const lostDecisionPage = (frame: PlatformFrame, call: Call, { error, startAgain }: LostDecision): Response => {
  const wasDecided = error.code === 'idempotency_key_reused'
  return page(
    <Layout title={wasDecided ? 'You have already decided' : 'Nothing was decided'} visit={frame} width="narrow">
      {wasDecided ? (
        <>
          <p>This form was sent before. Your first decision counts, and nothing more was done.</p>
          <p>
            To revoke access that you allowed, open <a href="/account/apps">Connected apps</a>. To change your decision,
            you can be asked again.
          </p>
        </>
      ) : (
        <>
          <p>
            {error.message}
            <RightAddress error={error} />
          </p>
          <p>No app was given access.</p>
        </>
      )}
      {startAgain === null ? (
        <p>To decide, go back to the app and start again there.</p>
      ) : (
        <p>
          <a href={startAgain} class="button">
            Ask me again
          </a>
        </p>
      )}
      <RequestLine requestId={call.requestId} />
    </Layout>,
    { refusal: error },
  )
}
