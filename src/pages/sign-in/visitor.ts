import type { Door } from '../../http/door.ts'
import { readCookie, setCookie } from '../../http/session-cookie.ts'
import type { TicketBook } from '../../http/call.ts'
import { ticketBook } from '../ticket-book.ts'

/** A browser that nobody has signed in with yet: its cookie ties forms to it, and tells nothing else. */
type Visitor = { readonly tickets: TicketBook; readonly cookies: readonly string[] }

const lifetimeSeconds = 3600
const syntax = /^[A-Za-z0-9_-]{43}$/

/** The visitor by the cookie, or a new one with a cookie to set. */
export const visitorOf = (door: Door, request: Request): Visitor => {
  const known = readCookie(door, request, 'visit')
  const secret =
    known !== null && syntax.test(known)
      ? known
      : door.platform.random.bytes(32).toBase64({ alphabet: 'base64url', omitPadding: true })
  return {
    tickets: ticketBook(door, secret),
    cookies: [setCookie(door, 'visit', secret, lifetimeSeconds)],
  }
}
