import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRowKey, type RowKey, rowKeyLength, uuidTimeOfKey } from './identifier.ts'

/** What a ticket is made with: a key that only the server has, and what only this browser has. */
export type TicketKeys = {
  readonly server: Uint8Array
  /** The session token, or before anyone has signed in the cookie of the visit. */
  readonly browser: string
}

/** What a form is for: the path that it is sent to, and facts that must come back as they were shown. */
type FormPurpose = { readonly action: string; readonly bound: readonly string[] }

/** The random order of IDs within a millisecond may borrow from the next ones. */
const toleratedAheadMs = 1_000

/**
 * The ticket that a form of a page carries: the key under which the store remembers that it was spent, and a MAC that
 * only this server can make, and only with the secret of the browser: so a ticket is good in this browser, for this
 * purpose, and nowhere else, and whoever has stolen a session cookie still has to load the page of a form.
 */
export const formTicket = (keys: TicketKeys, purpose: FormPurpose, key: RowKey): string =>
  `${key}.${macOf(keys, purpose, key)}`

/** The key of a ticket that is genuine, for this purpose and not older than `lifetimeMs`; else null. Whether it was spent, the store knows. */
export const readFormTicket = (
  keys: TicketKeys,
  purpose: FormPurpose,
  text: string,
  moment: { readonly now: number; readonly lifetimeMs: number },
): RowKey | null => {
  const key = text.slice(0, rowKeyLength)
  if (!isRowKey(key)) return null
  const expected = Buffer.from(formTicket(keys, purpose, key))
  const given = Buffer.from(text)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  const age = moment.now - uuidTimeOfKey(key)
  return age >= -toleratedAheadMs && age < moment.lifetimeMs ? key : null
}

/** JSON keeps the parts apart: no two lists of facts are written alike. */
const macOf = ({ server, browser }: TicketKeys, { action, bound }: FormPurpose, key: RowKey): string =>
  createHmac('sha256', server)
    .update(JSON.stringify(['form-ticket', browser, key, action, ...bound]))
    .digest('base64url')
