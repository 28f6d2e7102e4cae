import { createHmac } from 'node:crypto'
import { isRowKey, type RowKey, rowKeyLength, toleratedAheadMs, uuidTimeOfKey } from './identifier.ts'
import { readSignedKey, signedKey } from './sealed-text.ts'

/** The keys of a ticket: one that only the server has, and one that only this browser has. */
type TicketKeys = {
  readonly server: Uint8Array
  /** The session token, or before the sign-in the cookie of the visit. */
  readonly browser: string
}

/** What a form is for: the path that it is sent to, and facts that must come back unchanged. */
type FormPurpose = { readonly action: string; readonly bound: readonly string[] }

/**
 * The ticket in a form: the key under which the store records that it was spent, and a MAC by this server over the
 * browser's secret and the purpose. It is valid only in this browser and for this purpose, and a thief of a session
 * cookie still has to load the page of the form.
 */
export const formTicket = ({ server, browser }: TicketKeys, { action, bound }: FormPurpose, key: RowKey): string =>
  signedKey(server, key, ['form-ticket', browser, key, action, ...bound])

/** A genuine ticket for this purpose, one that is too old, or one for another browser, path or request. */
export type ReadTicket =
  { readonly kind: 'genuine'; readonly key: RowKey } | { readonly kind: 'expired' } | { readonly kind: 'foreign' }

/**
 * Reads a ticket. The store knows whether it was spent. One that says to be too old is believed, whoever made it: the secret of
 * its browser may have expired with it.
 */
export const readFormTicket = (
  keys: TicketKeys,
  purpose: FormPurpose,
  text: string,
  { now, lifetimeMs, browserLifetimeMs = lifetimeMs }: TicketMoment,
): ReadTicket => {
  const key = readSignedKey(text, (claimed) => formTicket(keys, purpose, claimed))
  const claimed = text.slice(0, rowKeyLength)
  const age = isRowKey(claimed) ? now - uuidTimeOfKey(claimed) : 0
  if (age >= (key === null ? browserLifetimeMs : lifetimeMs)) return { kind: 'expired' }
  return key === null || age < -toleratedAheadMs ? { kind: 'foreign' } : { kind: 'genuine', key }
}

type TicketMoment = {
  readonly now: number
  readonly lifetimeMs: number
  /** How long the browser keeps its secret, if that is shorter. */
  readonly browserLifetimeMs?: number
}

/** The fields that the server puts into each form that changes something. No form has a field of its own with such a name. */
export const ownFormFields = { ticket: 'ticket', owner: 'ticket_owner' } as const

/**
 * Stands for the account that a form is shown to, without naming it. Only this server can make one. It needs no session, so a
 * form that is sent too late still says whose it is.
 */
export const ownerTag = (serverKey: Uint8Array, userId: string): string =>
  createHmac('sha256', serverKey)
    .update(JSON.stringify(['form-owner', userId]))
    .digest('base64url')
