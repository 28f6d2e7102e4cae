import { PlatformError, refuse } from '../domain/errors.ts'
import { formTicket, ownerTag, readFormTicket, type ReadTicket } from '../domain/form-ticket.ts'
import { type RowKey, rowKey } from '../domain/identifier.ts'
import { pick } from '../domain/pick.ts'
import { refuseBearer } from '../http/bearer.ts'
import { type Call, callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { cookieValues, readCookie, setCookie } from '../http/cookies.ts'
import { hold, takeShare } from '../http/limits.ts'
import { presentedSession, presentedToken } from '../http/session-cookie.ts'
import { actingAs, type Rule, ruleOfOperator } from '../operations/acting-as.ts'
import { worksOnApps } from '../operations/apps/lists.ts'
import type { SessionCaller } from '../operations/authenticate.ts'
import type { Platform } from '../operations/platform.ts'
import { countWaiting, type WaitingWork } from '../operations/counts/counts.ts'
import { type KeptForm, keptFormsOf, type RefusedForm } from './kept-form.ts'

/**
 * A signed-in person and the request that they sent. A screen finds it once, with one read of the session, and passes it on to
 * everything else.
 */
export type Visit = {
  readonly door: Door
  readonly call: Call
  readonly session: SessionCaller
  readonly userId: string
  readonly sessionToken: string
  readonly tickets: TicketBook
  /** Forms that this person sent after their session had ended, until they send them again; the latest first. */
  readonly kept: readonly KeptForm[]
  /** The form of this request, on the page that shows it again. */
  readonly refused?: RefusedForm
  readonly platformName: string
  /** Whether they own or work on an app. */
  readonly hasApps: boolean
  /** What waits for this operator. Omitted for everybody else, and for forms. */
  readonly waiting?: WaitingWork
  /**
   * Acts for this person, if their session is live and the rule holds in the transaction of the change. With a ticket the form
   * acts only once: the ticket is spent in that transaction.
   */
  as(may: Rule, ticket?: RowKey): Acting<{ readonly kind: 'user'; readonly id: string }>
  /** The same on the desk, where they must still be an operator. */
  asOperator(authority?: {
    readonly may?: Rule
    readonly ticket?: RowKey
  }): Acting<{ readonly kind: 'operator'; readonly id: string }>
  /** Acts on their own account. */
  asOwner(): Acting<SessionCaller>
}

/** Runs operations for somebody, who is its third argument. */
export type Acting<Actor> = {
  do<More extends readonly unknown[], Answer>(
    operation: (platform: Platform, trace: Call, actor: Actor, ...more: More) => Answer,
    ...more: More
  ): Answer
}

/** For what every signed-in person may do. */
export const always: Rule = async () => null

/** The signed-in person by the session cookie alone, which is enough to read a page but never to change anything. */
export const findVisit = async (door: Door, request: Request): Promise<Visit | null> => {
  const call = callOf(request)
  const found = await presentedSession(door, call, door.platform.clock.now())
  if (found?.kind !== 'live') return null
  const { session, token: sessionToken } = found
  call.notes.userId = session.user.id
  const isPageOfOperator = session.user.isOperator && (request.method === 'GET' || request.method === 'HEAD')
  const hasApps = await worksOnApps(door.platform, session.user.id)
  const visit = { ...visitOf(door, call, session, sessionToken), hasApps }
  return isPageOfOperator ? { ...visit, waiting: await countWaiting(door.platform) } : visit
}

/** The visit of a person by their live session. */
export const visitOf = (door: Door, call: Call, session: SessionCaller, sessionToken: string): Visit => {
  const { platform, serverKey } = door
  const { id } = session.user
  const acting = <Actor>(actor: Actor, authority: Parameters<typeof actingAs>[3]): Acting<Actor> => ({
    do: (operation, ...more) => operation(actingAs(platform, call, session, authority), call, actor, ...more),
  })
  return {
    door,
    call,
    session,
    userId: id,
    sessionToken,
    tickets: ticketBook(door, sessionToken, { owner: ownerTag(serverKey, id) }),
    kept: keptFormsOf(door, call.request, id),
    platformName: platform.platformName,
    hasApps: false,
    as: (may, ticket) => acting({ kind: 'user', id }, { may, ...(ticket && { ticket }) }),
    asOperator: ({ may = always, ...once } = {}) =>
      acting({ kind: 'operator', id }, { ...once, may: ruleOfOperator(may) }),
    asOwner: () => acting(session, {}),
  }
}

/**
 * The refusal of a request without a live session. An ended session leaves an audit row, unless this address was refused too
 * often. Any site can use up that limit for its visitors, so reaching it must not keep people from signing in.
 */
export const refuseVisit = async (door: Door, request: Request): Promise<PlatformError> => {
  const token = presentedToken(cookieValues(door, request, 'session'))
  if (token === null) return refuse('login_required')
  try {
    return await refuseBearer(door, callOf(request), refuse('login_required'), 'session', token)
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'rate_limited') return refuse('login_required')
    throw error
  }
}

/**
 * Whose share of `write` a form takes from. What makes something takes from the account's, which bounds what all its sessions
 * store. What ends something, and the proof that it may ask for, takes from the session's: somebody with a stolen session must
 * not be able to keep the owner from signing out, ending that session or revoking what it made. What the page of an app can cause
 * takes from that of this person's install of it: no app must be able to keep its user from their own forms.
 */
export type ShareOf = 'account' | 'session' | { readonly installId: string }

/** IDs in addresses can have any length. */
const longestId = 64
const shareKey = ({ userId, session: { sessionKey } }: Visit, shareOf: ShareOf): string => {
  if (shareOf === 'account') return `account ${userId}`
  if (shareOf === 'session') return `session ${sessionKey}`
  return `frame ${userId} ${shareOf.installId.slice(0, longestId)}`
}

/** Whom a page or a form is for: everybody who is signed in, or operators. */
export type ForWhom = 'user' | 'operator'

/**
 * The signed-in person who sent the request, within their share: a form takes from `write`, a page from `read` of the session,
 * because pages lead to what ends something. Every page and every form of signed-in people comes through here.
 * @throws login_required, which leads to the sign-in page and back; rate_limited; route_not_found for everybody but operators on
 * the desk: to them it does not exist
 */
export const requireVisit = async (
  door: Door,
  request: Request,
  by: ForWhom = 'user',
  shareOf: ShareOf = 'account',
): Promise<Visit> => {
  const visit = await findVisit(door, request)
  if (visit === null) throw await refuseVisit(door, request)
  const isForm = request.method === 'POST'
  const key = shareKey(visit, isForm ? shareOf : 'session')
  takeShare(door, visit.call, isForm ? 'write' : 'read', key)
  if (isForm) hold(visit.call, door.limiter.take('daily', key))
  if (by === 'operator' && !visit.session.user.isOperator) throw refuse('route_not_found')
  return visit
}

/** Issues and reads the tickets of one browser's forms. `action` is the path that a form is sent to. */
export type TicketBook = {
  /** Stands for the account that the forms are shown to; null before the sign-in. */
  readonly owner: string | null
  /** Whether the browser has sent its secret in a cookie. */
  readonly isKnown: boolean
  issue(action: string, bound?: readonly string[]): string
  read(action: string, bound: readonly string[], ticket: string, lifetimeSeconds?: number): ReadTicket
}

/** `browser` is a secret that only this browser sends: its session token or its visit cookie. */
export const ticketBook = (
  { platform, serverKey }: Pick<Door, 'platform' | 'serverKey'>,
  browser: string,
  { owner = null, isKnown = true, browserLifetimeSeconds = platform.lifetimes.session }: Partial<BookOf> = {},
): TicketBook => {
  const { clock, random, lifetimes } = platform
  const keys = { server: serverKey, browser }
  const browserLifetimeMs = browserLifetimeSeconds * 1000
  return {
    owner,
    isKnown,
    issue: (action, bound = []) => formTicket(keys, { action, bound }, rowKey(random.uuid(clock.now()))),
    read: (action, bound, ticket, lifetimeSeconds = lifetimes.session) =>
      readFormTicket(keys, { action, bound }, ticket, {
        now: clock.now(),
        lifetimeMs: lifetimeSeconds * 1000,
        browserLifetimeMs,
      }),
  }
}

type BookOf = Pick<TicketBook, 'owner' | 'isKnown'> & {
  /** How long the browser keeps its secret. */
  readonly browserLifetimeSeconds: number
}

/** A browser without a session. Its cookie ties forms, and a sign-in that is not finished, to it and says nothing else. */
export type Visitor = {
  readonly door: Door
  readonly call: Call
  readonly secret: string
  readonly tickets: TicketBook
  readonly cookies: readonly string[]
  /** The form of this request, on the page that shows it again. */
  readonly refused?: RefusedForm
  readonly platformName: string
  readonly builder: Platform['builder']
}

const visitorSeconds = 3600
const visitorSyntax = /^[A-Za-z0-9_-]{43}$/

/** The visitor by the cookie, or a new one with a cookie to set. */
export const visitorOf = (door: Door, request: Request): Visitor => {
  const known = readCookie(door, request, 'visit', (value) => (visitorSyntax.test(value) ? value : null))
  const secret = known ?? door.platform.random.bytes(32).toBase64({ alphabet: 'base64url', omitPadding: true })
  const tickets = ticketBook(door, secret, { isKnown: known !== null, browserLifetimeSeconds: visitorSeconds })
  return {
    door,
    call: callOf(request),
    secret,
    tickets,
    cookies: [setCookie(door, 'visit', secret, visitorSeconds)],
    ...pick(door.platform, 'platformName', 'builder'),
  }
}

/** Where `return_to` in the address leads. */
export const wayBackOf = ({ platform }: Door, { url }: Request): string =>
  safeReturnTo(new URL(url).searchParams.get('return_to'), platform.publicUrl)

/** An app's request with the longest state and redirect URI, percent-encoded, is a little shorter. */
export const longestReturnTo = 32_768

/**
 * Where to go after signing in: a path of this server with its query, otherwise the start page. Text that a browser could read
 * as another host (`//`, a backslash, a control character that it drops) is not accepted.
 */
export const safeReturnTo = (path: string | null, publicUrl: string): string => {
  if (path === null || path.length > longestReturnTo || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path)) return '/'
  const url = URL.parse(path, publicUrl)
  return url !== null && url.origin === publicUrl && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'
}
