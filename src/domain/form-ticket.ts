import { createHmac } from 'node:crypto'
import { type RowKey, uuidTimeOfKey } from './identifier.ts'
import { readSignedKey, signedKey } from './signed-key.ts'

/** The keys of a ticket: one that only the server has, and one that only this browser has. */
type TicketKeys = {
  readonly server: Uint8Array
  /** The session token, or before the sign-in the cookie of the visit. */
  readonly browser: string
}

/** What a form is for: the path that it is sent to, and facts that must come back unchanged. */
type FormPurpose = { readonly action: string; readonly bound: readonly string[] }

/** Keys may run ahead of the clock when many are made in one millisecond. */
const toleratedAheadMs = 1_000

/**
 * The ticket in a form: the key under which the store records that it was spent, and a MAC by this server over the
 * browser's secret and the purpose. It is valid only in this browser and for this purpose, and a thief of a session
 * cookie still has to load the page of the form.
 */
export const formTicket = ({ server, browser }: TicketKeys, { action, bound }: FormPurpose, key: RowKey): string =>
  signedKey(server, key, ['form-ticket', browser, key, action, ...bound])

/** The key of a genuine ticket for this purpose, not older than `lifetimeMs`; else null. The store knows whether it was spent. */
export const readFormTicket = (
  keys: TicketKeys,
  purpose: FormPurpose,
  text: string,
  moment: { readonly now: number; readonly lifetimeMs: number },
): RowKey | null => {
  const key = readSignedKey(text, (claimed) => formTicket(keys, purpose, claimed))
  if (key === null) return null
  const age = moment.now - uuidTimeOfKey(key)
  return age >= -toleratedAheadMs && age < moment.lifetimeMs ? key : null
}

/**
 * Stands for the account that a form is shown to, without naming it. Only this server can make one. It needs no session, so a
 * form that is sent too late still says whose it is.
 */
export const ownerTag = (serverKey: Uint8Array, userId: string): string =>
  createHmac('sha256', serverKey)
    .update(JSON.stringify(['form-owner', userId]))
    .digest('base64url')
