import { refuse } from '../domain/errors.ts'
import { secretKindOf } from '../domain/secret.ts'
import { authenticateSession, type SessionCaller } from '../operations/authenticate.ts'
import { refuseBearer, requireBearer } from './bearer.ts'
import { cookieValues, setCookie } from './cookies.ts'
import type { Door } from './door.ts'
import type { Guard } from './endpoint.ts'
import { takeShare } from './limits.ts'
import type { Call } from './call.ts'

/** The `Set-Cookie` that signs a browser in. */
export const sessionCookie = (door: Door, token: string): string =>
  setCookie(door, 'session', token, door.platform.lifetimes.session)

/** What the session cookie of a request is worth: the live session, or the token of one that has ended; null without a cookie. */
type PresentedSession =
  | { readonly kind: 'live'; readonly token: string; readonly session: SessionCaller }
  | { readonly kind: 'ended'; readonly token: string }

/** The session by the cookie alone. Of several cookies with its name, the one of a live session counts. */
export const presentedSession = async (door: Door, call: Call, now: number): Promise<PresentedSession | null> => {
  const tokens = cookieValues(door, call.request, 'session')
  for (const token of tokens) {
    const session = await authenticateSession(door.platform, token, now, call.address)
    if (session !== null) return { kind: 'live', token, session }
  }
  const token = presentedToken(tokens)
  return token === null ? null : { kind: 'ended', token }
}

/** The session token among the values of the session cookie, live or not; null without the cookie. */
export const presentedToken = (values: readonly string[]): string | null =>
  values.find((each) => secretKindOf(each) === 'session') ?? values[0] ?? null

/**
 * The signed-in user of a request: by `Authorization: Bearer apus_…`, or by the cookie together with proof that the
 * request comes from this origin (contract section 3).
 * @throws login_required, token_type_not_allowed, origin_not_allowed
 */
export const requireSession = async (door: Door, call: Call): Promise<SessionCaller> => {
  const caller = await (call.authorization.kind === 'none' ? byCookie(door, call) : byBearer(door, call))
  call.notes.userId = caller.user.id
  return caller
}

const byBearer = async (door: Door, call: Call): Promise<SessionCaller> => {
  const caller = await requireBearer(door, call, 'login_required')
  if (caller.kind !== 'session') throw refuse('token_type_not_allowed')
  return caller
}

const byCookie = async (door: Door, call: Call): Promise<SessionCaller> => {
  const found = await presentedSession(door, call, call.now)
  if (found === null) throw refuse('login_required')
  const { token } = found
  if (found.kind === 'ended') throw await refuseBearer(door, call, refuse('login_required'), 'session', token)
  if (!isFromSameOrigin(door, call.request)) {
    throw await refuseBearer(door, call, refuse('origin_not_allowed'), 'session', token)
  }
  return found.session
}

/** A signed-in user, within their share. */
export const signedInUser: Guard<SessionCaller, 'authorize' | null> = {
  callers: ['session'],
  errors: ['login_required', 'token_type_not_allowed', 'origin_not_allowed'],
  admit: async (door, call, share) => {
    const session = await requireSession(door, call)
    if (share !== null) takeShare(door, call, share, session.user.id)
    return session
  },
}

/** Proof that a page of this origin sent the request: browsers let no page forge either header. */
export const isFromSameOrigin = (door: Door, request: Request): boolean =>
  request.headers.get('sec-fetch-site') === 'same-origin' || request.headers.get('origin') === door.platform.publicUrl
