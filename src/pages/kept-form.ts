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
// server can read, and only for the account that the form was shown to, beside the forms of other tabs. After the sign-in the page of
// the form shows them again. Nothing is sent by itself, and the server stores nothing.

export type Values = Readonly<Record<string, string | readonly string[]>>

/** A form as it was sent, and the path that it was sent to. */
export type KeptForm = { readonly action: string; readonly values: Values }

const lifetimeSeconds = 900
/** Leaves room for a tab that goes elsewhere to sign in and comes back to the form. */
const longestCookie = 2_400
/** More than any form has. */
const longestForm = 1024 * 1024

const keptFor = (door: Door, tag: string): SealedFor => ({ door, secret: tag, place: 'kept-form' })

const form = Type.Tuple([
  Type.String(),
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
])

/** The forms that are kept for the account with this tag in this browser, the latest first, and since when. */
const keptIn = (door: Door, request: Request, tag: string) => {
  const whom = keptFor(door, tag)
  const kept = readCookie(door, request, 'kept', (sealed) => unseal(whom, sealed, lifetimeSeconds))
  const content = kept && inflateRawSync(kept.content, { maxOutputLength: longestForm }).toString('utf8')
  const found: unknown = content === null ? [] : JSON.parse(content)
  const forms = Value.Check(Type.Array(form), found)
    ? found.map(([action, values]): KeptForm => ({ action, values }))
    : []
  return { forms, at: kept?.at }
}

const cookieWith = (door: Door, request: Request, tag: string, forms: readonly KeptForm[], at?: number) => {
  const content = JSON.stringify(forms.map(({ action, values }) => [action, values]))
  const sealed = seal(keptFor(door, tag), deflateRawSync(Buffer.from(content)), at)
  const fits = sealed.length <= longestCookie && hasRoom(door, request, 'kept', sealed)
  return fits ? setCookie(door, 'kept', sealed, lifetimeSeconds) : null
}

/**
 * The cookie that keeps this form for the account with this tag, beside those that are kept already. They make room for it, the oldest
 * first: `areAll` says whether none had to. Null if the form is too long even alone.
 */
export const keepingCookie = (door: Door, request: Request, tag: string, form: KeptForm) => {
  const { forms } = keptIn(door, request, tag)
  for (let count = forms.length; count >= 0; count -= 1) {
    const cookie = cookieWith(door, request, tag, [form, ...forms.slice(0, count)])
    if (cookie !== null) return { cookie, areAll: count === forms.length }
  }
  return null
}

/** The forms that are kept for this account in this browser, the latest first. */
export const keptFormsOf = (door: Door, request: Request, userId: string): readonly KeptForm[] =>
  keptIn(door, request, ownerTag(door.serverKey, userId)).forms

/** The cookie that forgets the latest of this address, which was sent now. */
export const forgettingCookie = (door: Door, request: Request, userId: string, action: string): string => {
  const tag = ownerTag(door.serverKey, userId)
  const { forms, at } = keptIn(door, request, tag)
  const others = withoutLatest(forms, action)
  return (others.length === 0 ? null : cookieWith(door, request, tag, others, at)) ?? forgetCookie(door, 'kept')
}

export const withoutLatest = (forms: readonly KeptForm[], action: string): readonly KeptForm[] => {
  const sent = forms.find((form) => form.action === action)
  return forms.filter((form) => form !== sent)
}

/** A form that was refused, as it was sent. The error is null for one that is only shown again. */
export type RefusedForm = KeptForm & { readonly error: PlatformError | null }

/** What the fields of a form show: the values that were sent, if any, and why they were refused. */
export const FormState = createContext<{ readonly values: Values | null; readonly error: PlatformError | null }>({
  values: null,
  error: null,
})
