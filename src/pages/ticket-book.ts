import { formTicket, readFormTicket } from '../domain/form-ticket.ts'
import { rowKey } from '../domain/identifier.ts'
import type { TicketBook } from '../http/call.ts'
import type { Door } from '../http/door.ts'

/** `browser` is what only this browser and this request know: its session token or its visit cookie. */
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
