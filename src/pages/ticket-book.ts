import { formTicket, readFormTicket } from '../domain/form-ticket.ts'
import { type RowKey, rowKey } from '../domain/identifier.ts'
import type { Door } from '../http/door.ts'

/** Issues the tickets of the forms of one browser, and reads them back. `action` is the path a form is sent to. */
export type TicketBook = {
  issue(action: string, bound?: readonly string[]): string
  /** The key of a genuine ticket that is not too old; null for anything else. */
  read(action: string, bound: readonly string[], ticket: string, lifetimeSeconds?: number): RowKey | null
}

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
