import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  type AuthorizationRequest,
  authorizationRequestOf,
  readAuthorizationParameters,
} from '../../domain/authorization-request.ts'
import { PlatformError } from '../../domain/errors.ts'
import type { RowKey } from '../../domain/identifier.ts'
import type { Door } from '../../http/door.ts'
import { takeShare } from '../../http/limits.ts'
import { callOf } from '../../http/call.ts'
import { isFromSameOrigin, readCookie } from '../../http/session-cookie.ts'
import { decideConsent } from '../../operations/oauth/consent.ts'
import { formFields, readFields, refuseForm } from '../old-forms.ts'
import { seeOther } from '../page.ts'
import { findVisit, refuseVisit, type Visit } from '../visit.ts'
import { lostDecisionPage } from './lost-decision-page.tsx'
import { askPath, authorizePath, signInPath } from './paths.ts'
import { unansweredPage } from './unanswered-page.tsx'

/** How long a person may think about it; after that they are asked again. */
const consentLifetimeSeconds = 600

const decisionFields = formFields({
  request: Type.String(),
  decision: Type.Union([Type.Literal('allow'), Type.Literal('deny')]),
})
type DecisionFields = { readonly ticket: string; readonly request: string; readonly decision: 'allow' | 'deny' }

/**
 * The answer to the question. The ticket binds it to the session and to the whole request that the page was shown for,
 * and is spent in the transaction that carries it out.
 */
export const decideRoute = (door: Door) =>
  new Elysia()
    .onParse({ as: 'local' }, () => ({}))
    .onTransform({ as: 'local' }, async (context) => {
      if (context.request.method === 'POST') context.body = await readFields(context.request)
    })
    .post(authorizePath, async ({ body, request }) => await receive(door, request, body), { body: decisionFields })

const receive = async (door: Door, request: Request, fields: DecisionFields): Promise<Response> => {
  const asked = authorizationRequestOf(readAuthorizationParameters(fields.request))
  if (!isFromSameOrigin(door, request)) {
    const error = await refuseForm(door, request, readCookie(door, request, 'session') ?? '')
    return lostDecisionPage(door.platform.platformName, request, { error, startAgain: null })
  }
  const visit = await findVisit(door, request)
  if (visit === null) return await signInFirst(door, request, asked)
  takeShare(door, callOf(request), 'authorize', visit.session.user.id)
  const ticket = visit.tickets.read(authorizePath, [fields.request], fields.ticket, consentLifetimeSeconds)
  if (ticket === null) {
    const error = await refuseForm(door, request, visit.sessionToken)
    return lostDecisionPage(door.platform.platformName, request, { error, startAgain: askPath(asked) })
  }
  return await settle(door, request, visit, { request: asked, answer: fields.decision, ticket })
}

/** The session ended while the page was open: nothing is decided, and the question comes back after signing in. */
const signInFirst = async (door: Door, request: Request, asked: AuthorizationRequest): Promise<Response> => {
  await refuseVisit(door, request)
  return seeOther(signInPath(asked))
}

type Decided = {
  readonly request: AuthorizationRequest
  readonly answer: DecisionFields['decision']
  readonly ticket: RowKey
}

const settle = async (door: Door, request: Request, visit: Visit, decided: Decided): Promise<Response> => {
  const { notes } = callOf(request)
  notes.clientId = decided.request.clientId
  try {
    const { redirectTo, issued } = await decideConsent(door.platform, visit.trace, visit.session, decided)
    if (issued !== null) {
      notes.appId = issued.appId
      notes.grantId = issued.grantId
      door.platform.observe.issued('authorization_code')
    }
    return seeOther(redirectTo)
  } catch (error) {
    return unsettled(door.platform.platformName, request, decided.request, error)
  }
}

const unsettled = (platformName: string, request: Request, asked: AuthorizationRequest, error: unknown): Response => {
  if (!(error instanceof PlatformError)) throw error
  switch (error.code) {
    case 'idempotency_key_reused':
      return lostDecisionPage(platformName, request, { error, startAgain: askPath(asked) })
    case 'login_required':
      return seeOther(signInPath(asked))
    default:
      return unansweredPage(platformName, request, error)
  }
}
