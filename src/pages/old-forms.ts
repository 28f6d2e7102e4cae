import { type TProperties, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../domain/errors.ts'
import type { RowKey } from '../domain/identifier.ts'
import { refuseBearer } from '../http/bearer.ts'
import type { Door } from '../http/door.ts'
import { callOf } from '../http/call.ts'
import { isFromSameOrigin } from '../http/session-cookie.ts'
import { type FormFields, readForm } from '../http/strict-body.ts'
import { visitOf } from './visit.ts'

type FormRules = {
  /** Fields that may come more than once; they arrive as lists, empty when they do not come at all. */
  readonly lists?: readonly string[]
  /** Fields that the ticket binds: they must come back as the page showed them. */
  readonly bound?: readonly string[]
}

/** The key of the ticket that this form was sent with: what `actingAs` spends. */
export const ticketOf = (request: Request): RowKey => {
  const { ticket } = callOf(request)
  if (ticket === null) throw new Error('The route does not take a form with a ticket.')
  return ticket
}

/**
 * Takes the forms of signed-in people: mount it after `signedIn` or `operatorOnly`. The body is read strictly, and the
 * request must come from a page of this origin with a ticket for this very path and session.
 * @throws invalid_request, payload_too_large, origin_not_allowed
 */
export const forms = (door: Door, rules: FormRules = {}) =>
  new Elysia()
    .onParse({ as: 'scoped' }, () => ({}))
    .onTransform({ as: 'scoped' }, async (context) => {
      const { request } = context
      if (request.method !== 'POST') return
      const fields = await readFields(request, rules.lists ?? [])
      const { sessionToken, tickets: book } = visitOf(request)
      const bound = (rules.bound ?? []).map((name) => textOf(fields[name]))
      const key = isFromSameOrigin(door, request) ? book.read(actionOf(request), bound, textOf(fields['ticket'])) : null
      if (key === null) throw await refuseForm(door, request, sessionToken)
      callOf(request).ticket = key
      context.body = fields
    })

/** The schema of a form: the ticket and its own fields. */
export const formFields = <T extends TProperties>(fields: T) => Type.Object({ ticket: Type.String(), ...fields })

/** Every field of a form once, as text with plain line ends, save the lists. @throws invalid_request for a repeated field */
export const readFields = async (
  request: Request,
  lists: readonly string[] = [],
): Promise<Record<string, string | readonly string[]>> => {
  const form = await readForm(callOf(request))
  const fields = Object.fromEntries([...form].map(([name, values]) => [name, fieldOf(name, values, lists)] as const))
  return { ...Object.fromEntries(lists.map((name) => [name, listOf(form, name)])), ...fields }
}

const listOf = (form: FormFields, name: string): readonly string[] => (form.get(name) ?? []).map(withPlainLineEnds)

const fieldOf = (name: string, values: readonly string[], lists: readonly string[]): string | readonly string[] => {
  if (lists.includes(name)) return values.map(withPlainLineEnds)
  if (values.length > 1) throw refuse('invalid_request', { message: 'A field of the form came twice.' })
  return withPlainLineEnds(values[0] ?? '')
}

/** Browsers send every line end of a text area as CR LF. */
const withPlainLineEnds = (text: string): string => text.replaceAll('\r\n', '\n')

const textOf = (field: string | readonly string[] | undefined): string => (typeof field === 'string' ? field : '')

/** The path that a form is sent to, as its ticket names it. */
export const actionOf = (request: Request): string => new URL(request.url).pathname

/** Refuses a form that is not ours, or no longer; leaves an audit row of the session that was borrowed. */
export const refuseForm = async (door: Door, request: Request, sessionToken: string): Promise<PlatformError> => {
  await refuseBearer(door, callOf(request), 'origin_not_allowed', 'session', sessionToken)
  return refuse('origin_not_allowed', { message: staleForm })
}

export const staleForm =
  'This form is no longer valid, and nothing was changed. Load its page again and send it from there.'
