import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { createContext } from 'preact'
import { ownerTag } from '../domain/form-ticket.ts'
import type { PlatformError } from '../domain/errors.ts'
import type { Door } from '../http/door.ts'
import { forgetCookie, hasRoom, readCookie, setCookie } from '../http/cookies.ts'
import { seal, type SealedFor, unseal } from './sealed.ts'

// A form that was sent after its session had ended is not lost. Its fields, without passwords, go into a cookie that only this
// server can read, and only for the account that the form was shown to. After the sign-in the page of the form shows
// them again. Nothing is sent by itself, and the server stores nothing.

export type Values = Readonly<Record<string, string | readonly string[]>>

/** A form as it was sent, and the path that it was sent to. */
export type KeptForm = { readonly action: string; readonly values: Values }

const lifetimeSeconds = 900
/** Leaves room for a tab that goes elsewhere to sign in and comes back to the form. */
const longestCookie = 2_400
/** More than any form has. */
const longestForm = 1024 * 1024

const keptFor = (door: Door, tag: string): SealedFor => ({ door, secret: tag, place: 'kept-form' })

/** The cookie with this form for the account with this tag; null if the form is too long. */
export const keptFormCookie = (
  door: Door,
  request: Request,
  tag: string,
  { action, values }: KeptForm,
): string | null => {
  const sealed = seal(keptFor(door, tag), deflateRawSync(Buffer.from(JSON.stringify([action, values]))))
  const fits = sealed.length <= longestCookie && hasRoom(door, request, 'kept', sealed)
  return fits ? setCookie(door, 'kept', sealed, lifetimeSeconds) : null
}

/** The cookie that forgets it. */
export const forgetKeptForm = (door: Door): string => forgetCookie(door, 'kept')

const form = Type.Tuple([
  Type.String(),
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
])

/** The form that was kept for this account in this browser; null without one. */
export const keptFormOf = (door: Door, request: Request, userId: string): KeptForm | null => {
  const whom = keptFor(door, ownerTag(door.serverKey, userId))
  const kept = readCookie(door, request, 'kept', (sealed) => unseal(whom, sealed, lifetimeSeconds))
  if (kept === null) return null
  const found: unknown = JSON.parse(inflateRawSync(kept.content, { maxOutputLength: longestForm }).toString('utf8'))
  if (!Value.Check(form, found)) return null
  const [action, values] = found
  return { action, values }
}

/** A form that was refused, as it was sent. The error is null for one that is only shown again. */
export type RefusedForm = KeptForm & { readonly error: PlatformError | null }

/** What the fields of a form show: the values that were sent, if any, and why they were refused. */
export const FormState = createContext<{ readonly values: Values | null; readonly error: PlatformError | null }>({
  values: null,
  error: null,
})
