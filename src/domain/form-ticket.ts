import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRowKey, type RowKey, rowKeyLength, uuidTimeOfKey } from './identifier.ts'

/** What a form is for: the path that it is sent to, and facts that must come back as they were shown. */
type FormPurpose = { readonly action: string; readonly bound: readonly string[] }

/** The random order of IDs within a millisecond may borrow from the next ones. */
const toleratedAheadMs = 1_000

/**
 * The ticket that a form of a page carries: the key under which the store remembers that it was spent, and a MAC that
 * only a server which has just been shown `secret` can make. `secret` is the session token, or before anyone has signed
 * in the cookie of the visit: so a ticket is good in this browser, for this purpose, and nowhere else.
 */
export const formTicket = (secret: string, purpose: FormPurpose, key: RowKey): string =>
  `${key}.${macOf(secret, purpose, key)}`

/** The key of a ticket that is genuine, for this purpose and not older than `lifetimeMs`; else null. Whether it was spent, the store knows. */
export const readFormTicket = (
  secret: string,
  purpose: FormPurpose,
  text: string,
  moment: { readonly now: number; readonly lifetimeMs: number },
): RowKey | null => {
  const key = text.slice(0, rowKeyLength)
  if (!isRowKey(key)) return null
  const expected = Buffer.from(formTicket(secret, purpose, key))
  const given = Buffer.from(text)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  const age = moment.now - uuidTimeOfKey(key)
  return age >= -toleratedAheadMs && age < moment.lifetimeMs ? key : null
}

/** JSON keeps the parts apart: no two lists of facts are written alike. */
const macOf = (secret: string, { action, bound }: FormPurpose, key: RowKey): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify(['form-ticket', key, action, ...bound]))
    .digest('base64url')
