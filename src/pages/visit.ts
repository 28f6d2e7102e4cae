import { formTicket, readFormTicket } from '../domain/form-ticket.ts'
import { rowKey } from '../domain/identifier.ts'
import { Elysia } from 'elysia'
import { PlatformError, refuse } from '../domain/errors.ts'
import { refuseBearer } from '../http/bearer.ts'
import type { Door } from '../http/door.ts'
import { callOf, type TicketBook, type Visit } from '../http/call.ts'
import { readCookie } from '../http/session-cookie.ts'
import { authenticateSession } from '../operations/authenticate.ts'

export type { TicketBook, Visit }

/** The visit that `signedIn` or `operatorOnly` let through. Throws when the route uses neither. */
export const visitOf = (request: Request): Visit => {
  const { visit } = callOf(request)
  if (visit === null) throw new Error('The route does not ask for a signed-in user.')
  return visit
}

/** The signed-in person by the session cookie alone, which is enough to read a page but never to change anything. */
export const findVisit = async (door: Door, request: Request): Promise<Visit | null> => {
  const sessionToken = readCookie(door, request, 'session')
  if (sessionToken === null) return null
  const session = await authenticateSession(door.platform, sessionToken)
  if (session === null) return null
  const call = callOf(request)
  call.notes.userId = session.user.id
  return {
    door,
    call,
    session,
    userId: session.user.id,
    sessionToken,
    trace: call,
    tickets: ticketBook(door, sessionToken),
    platformName: door.platform.platformName,
  }
}

/**
 * The refusal of a request without a live session. An ended session leaves an audit row, unless this address was refused too
 * often. Any site can use up that limit for its visitors, so reaching it must not keep people from signing in.
 */
export const refuseVisit = async (door: Door, request: Request): Promise<PlatformError> => {
  const token = readCookie(door, request, 'session')
  if (token === null) return refuse('login_required')
  try {
    return await refuseBearer(door, callOf(request), 'login_required', 'session', token)
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'rate_limited') return refuse('login_required')
    throw error
  }
}

/** The signed-in person who sent the request. @throws login_required, which leads to the sign-in page and back */
export const requireVisit = async (door: Door, request: Request): Promise<Visit> => {
  const visit = await findVisit(door, request)
  if (visit === null) throw await refuseVisit(door, request)
  callOf(request).visit = visit
  return visit
}

/** The same for an operator. @throws route_not_found for other signed-in people: to them the desk does not exist */
export const requireOperator = async (door: Door, request: Request): Promise<Visit> => {
  const visit = await requireVisit(door, request)
  if (!visit.session.user.isOperator) throw refuse('route_not_found')
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
    await requireOperator(door, request)
    return {}
  })

/** `browser` is a secret that only this browser sends: its session token or its visit cookie. */
export const ticketBook = (
  { platform, serverKey }: Pick<Door, 'platform' | 'serverKey'>,
  browser: string,
): TicketBook => {
  const { clock, random, lifetimes } = platform
  const keys = { server: serverKey, browser }
  return {
    issue: (action, bound = []) => formTicket(keys, { action, bound }, rowKey(random.uuid(clock.now()))),
    read: (action, bound, ticket, lifetimeSeconds = lifetimes.session) =>
      readFormTicket(keys, { action, bound }, ticket, { now: clock.now(), lifetimeMs: lifetimeSeconds * 1000 }),
  }
}
