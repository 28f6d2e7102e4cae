import { refuse } from '../domain/errors.ts'
import { authenticateSession, type SessionCaller } from '../operations/authenticate.ts'
import { refuseBearer, requireBearer } from './bearer.ts'
import type { Door } from './door.ts'
import type { Guard } from './endpoint.ts'
import { takeShare } from './limits.ts'
import type { Call } from './call.ts'

/** `__Host-` ties the cookie to this host, over HTTPS only (RFC 6265bis §4.1.3.2). */
const isSecure = (door: Door): boolean => door.platform.publicUrl.startsWith('https://')
const cookieName = (door: Door, stem: CookieStem): string => (isSecure(door) ? `__Host-${stem}` : stem)

/**
 * `session` is the signed-in user. `visit` ties forms to a browser before anyone has signed in. `device` marks a browser in which
 * someone has signed in before. `shown` carries a new secret to the page that shows it. `kept` has the fields of a form that was
 * sent after its session had ended. `proved` says that the person has lately proved again who they are. `pending` is a sign-in that lacks the
 * second factor. `handover-…` remembers that this browser has taken that request to sign in to the builder,
 * `oidc-…` what the answer of the identity provider must fit, and `way` that the session came from there.
 */
type CookieStem = 'session' | 'visit' | 'device' | 'shown' | 'kept' | 'proved' | 'pending' | 'way' | TabCookie
type TabCookie = `${Elsewhere}-${string}`
type Elsewhere = 'handover' | 'oidc'

/** The `Set-Cookie` that signs a browser in or, with an empty token and zero seconds, out. */
export const sessionCookie = (door: Door, token: string, maxAgeSeconds: number): string =>
  setCookie(door, 'session', token, maxAgeSeconds)

/** All tabs together have so many characters of cookies: a much longer header is not read. */
const longestOfTabs = 4_000

/**
 * The `Set-Cookie` of a tab that leaves to sign in elsewhere. Each has a name of its own, so that several tabs can leave and come back.
 * The oldest are deleted where all would be too long.
 */
export const tabCookies = (
  door: Door,
  request: Request,
  [where, name]: readonly [where: Elsewhere, name: string],
  value: string,
  maxAgeSeconds: number,
): readonly string[] => {
  const start = cookieName(door, `${where}-`)
  let room = longestOfTabs - value.length
  const tooMany = (request.headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .toReversed() // browsers send the oldest first
    .filter((pair) => (room -= pair.length) < 0)
  return [
    setCookie(door, `${where}-${name}`, value, maxAgeSeconds),
    ...tooMany.map((pair) => setCookie(door, `${where}-${pair.slice(start.length, pair.indexOf('='))}`, '', 0)),
  ]
}

/** A cookie that scripts cannot read and that forms of other sites do not send. */
export const setCookie = (door: Door, stem: CookieStem, value: string, maxAgeSeconds: number): string =>
  [
    `${cookieName(door, stem)}=${value}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure(door) ? ['Secure'] : []),
  ].join('; ')

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
  const { request } = call
  const token = readCookie(door, request, 'session')
  if (token === null) throw refuse('login_required')
  const caller = await authenticateSession(door.platform, token, call.now, call.address)
  if (caller === null) throw await refuseBearer(door, call, 'login_required', 'session', token)
  if (!isFromSameOrigin(door, request)) throw await refuseBearer(door, call, 'origin_not_allowed', 'session', token)
  return caller
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

/** Whether a session cookie came with the request, live or not. */
export const hasSessionCookie = (door: Door, request: Request): boolean => readCookie(door, request, 'session') !== null

/** Proof that a page of this origin sent the request: browsers let no page forge either header. */
export const isFromSameOrigin = (door: Door, request: Request): boolean =>
  request.headers.get('sec-fetch-site') === 'same-origin' || request.headers.get('origin') === door.platform.publicUrl

/** The unchecked value of one of our cookies; null if it is missing or comes twice. */
export const readCookie = (door: Door, request: Request, stem: CookieStem): string | null => {
  const name = cookieName(door, stem)
  const header = request.headers.get('cookie')
  if (header === null || header.length > 8_192) return null
  const values = header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return values.length === 1 ? (values[0] ?? null) : null // of two cookies with one name, neither is trusted
}
