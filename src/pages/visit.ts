import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { refuseBearer } from '../http/bearer.ts'
import type { Door } from '../http/door.ts'
import { callOf, type Visit } from '../http/call.ts'
import { readCookie } from '../http/session-cookie.ts'
import { authenticateSession } from '../operations/authenticate.ts'
import { outcomeOf } from './outcome.ts'
import { ticketBook } from './ticket-book.ts'

export type { Visit }

/** Whoever `signedIn` or `operatorOnly` let through. Throws where neither stands before the route. */
export const visitOf = (request: Request): Visit => {
  const { visit } = callOf(request)
  if (visit === null) throw new Error('The route does not ask for a signed-in user.')
  return visit
}

/** Who is signed in here, by the session cookie alone: enough to read a page, never to change anything. */
export const findVisit = async (door: Door, request: Request): Promise<Visit | null> => {
  const sessionToken = readCookie(door, request, 'session')
  if (sessionToken === null) return null
  const session = await authenticateSession(door.platform, sessionToken)
  if (session === null) return null
  const call = callOf(request)
  call.notes.userId = session.user.id
  return {
    session,
    sessionToken,
    trace: call,
    tickets: ticketBook(door, sessionToken),
    platformName: door.platform.platformName,
  }
}

/**
 * The refusal of whoever is not signed in, with the audit row of a session that is over. Where too many were refused the row is
 * left out and nothing else: any site can spend that share for its visitors, and who has to sign in must still get there.
 */
export const refuseVisit = async (door: Door, request: Request): Promise<PlatformError> => {
  const token = readCookie(door, request, 'session')
  if (token !== null) await outcomeOf(refuseBearer(door, callOf(request), 'login_required', 'session', token))
  return refuse('login_required')
}

const requireVisit = async (door: Door, request: Request): Promise<Visit> => {
  const visit = await findVisit(door, request)
  if (visit === null) throw await refuseVisit(door, request)
  callOf(request).visit = visit
  return visit
}

/** Lets signed-in people through to the routes after it; others are sent to sign in, and come back. */
export const signedIn = (door: Door) =>
  new Elysia().derive({ as: 'scoped' }, async ({ request }) => {
    await requireVisit(door, request)
    return {}
  })

/** Lets operators through; for everybody else who is signed in there is nothing here. */
export const operatorOnly = (door: Door) =>
  new Elysia().derive({ as: 'scoped' }, async ({ request }) => {
    const { session } = await requireVisit(door, request)
    if (!session.user.isOperator) throw refuse('route_not_found')
    return {}
  })
