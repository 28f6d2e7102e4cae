import { formTicket, readFormTicket } from '../domain/form-ticket.ts'
import { type RowKey, rowKey } from '../domain/identifier.ts'
import type { Platform } from '../operations/platform.ts'

/** Issues the tickets of the forms of one browser, and reads them back. `action` is the path a form is sent to. */
export type TicketBook = {
  issue(action: string, bound?: readonly string[]): string
  /** The key of a genuine ticket that is not too old; null for anything else. */
  read(action: string, bound: readonly string[], ticket: string, lifetimeSeconds?: number): RowKey | null
}

/** `secret` is what only this browser and this request know: its session token or its visit cookie. */
export const ticketBook = ({ clock, random, lifetimes }: Platform, secret: string): TicketBook => ({
  issue: (action, bound = []) => formTicket(secret, { action, bound }, rowKey(random.uuid(clock.now()))),
  read: (action, bound, ticket, lifetimeSeconds = lifetimes.session) =>
    readFormTicket(secret, { action, bound }, ticket, { now: clock.now(), lifetimeMs: lifetimeSeconds * 1000 }),
})
