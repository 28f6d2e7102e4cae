import { type Static, type TObject, type TProperties, type TString, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { PlatformError, refuse } from '../domain/errors.ts'
import { type FormCause, formCauses } from '../domain/form-cause.ts'
import { ownFormFields } from '../domain/form-ticket.ts'
import type { RowKey } from '../domain/identifier.ts'
import { refuseBearer } from '../http/bearer.ts'
import { type Call, callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { type MultipartForm, readMultipart } from '../http/multipart.ts'
import { signOut } from '../operations/sessions/own-sessions.ts'
import { fieldRefusal } from '../http/schema-check.ts'
import { isFromSameOrigin } from '../http/session-cookie.ts'
import { type FormFields, readForm } from '../http/strict-body.ts'
import { forgettingCookie, keepingCookie, type Values, withoutLatest } from './kept-form.ts'
import { logCodeOf, requestedPage, SendTo, type SentForm } from './page.ts'
import { type Effect, lacksProof } from './proof.ts'
import { type ForWhom, requireVisit, type ShareOf, type TicketBook, type Visit } from './visit.ts'

/**
 * How a form is received; `change.tsx` and `step.tsx` declare forms, and call this. The body is read strictly. The form must come from
 * a page of this server that this session was lately shown, which its ticket proves. If it needs the proof (`proof.ts`), the
 * person has given it; otherwise they are sent there. Its fields follow one schema. Signing in and the consent decision take these
 * steps in their own order. What a person can correct is an outcome, which the page of the form shows again; every other error is
 * thrown.
 */

/** The fields of a form. A field with an array as its type may come any number of times. */
export type FormShape<T extends TProperties> = {
  readonly schema: TObject<T & { ticket: TString }>
  readonly lists: readonly string[]
  /** Fields that the ticket binds: they must come back with the value that the page showed. */
  readonly bound: readonly string[]
  /** Fields that are never kept: passwords, and what belongs to the form itself. */
  readonly secrets: readonly string[]
  /** Fields that nobody types, which have one of a few values. */
  readonly choices: readonly string[]
}

/** A password. */
export const secretText = Type.String({ secret: true })
export const text = Type.String()
export const optionalText = Type.Optional(Type.String())
export const texts = Type.Array(Type.String())

type OwnField = (typeof ownFormFields)[keyof typeof ownFormFields]

export const formOf = <T extends TProperties & Partial<Record<OwnField, never>>>(
  fields: T,
  bound: readonly string[] = [],
): FormShape<T> => ({
  schema: Type.Object({ ...fields, ticket: Type.String() }),
  lists: Object.keys(fields).filter((name) => fields[name]?.['type'] === 'array'),
  bound,
  secrets: [
    ...Object.values(ownFormFields),
    ...Object.keys(fields).filter((name) => fields[name]?.['secret'] === true),
  ],
  choices: Object.keys(fields).filter((name) => fields[name]?.['anyOf'] !== undefined),
})

/** A form that has only a button. */
export const emptyForm = formOf({})

/** A form of a signed-in person, checked. */
export type Submission<T extends TProperties> = {
  readonly visit: Visit
  readonly fields: Static<FormShape<T>['schema']>
  /** The same before the check, with fields that the schema does not name. */
  readonly sent: Values
  /** The key of its ticket. An operation that spends it can be run only once. */
  readonly ticket: RowKey
}

/**
 * Receives a form of a signed-in person, and asks them to prove that it is them if the form needs it.
 * @throws login_required; invalid_request, payload_too_large; origin_not_allowed without a valid ticket, which leaves an audit row;
 * route_not_found for who is no operator
 */
export const receive = async <T extends TProperties>(
  door: Door,
  request: Request,
  form: FormShape<T>,
  { by, effect, shareOf }: { readonly by: ForWhom; readonly effect: Effect; readonly shareOf?: ShareOf | undefined },
): Promise<Submission<T>> => {
  const visit = await requireVisit(door, request, by, shareOf).catch(keeping(door, request, form))
  return await check(visit, form, await readValues(visit.call, form), effect)
}

/** Without a live session the form is kept, to be shown again after the sign-in. */
const keeping =
  (door: Door, request: Request, form: KeptShape) =>
  async (error: unknown): Promise<never> => {
    if (!isWithoutSession(error)) throw error
    const kept = await keepForm(door, callOf(request), form)
    throw kept === 'nothing' ? error : new SendTo({ to: 'sign-in', form: kept })
  }

const isWithoutSession = (error: unknown): boolean => error instanceof PlatformError && error.code === 'login_required'

/** A form with a file is not read without a live session. The script keeps its fields in the tab, and the sign-in page says so. */
export const orLost = async <T>(door: Door, request: Request, visit: Promise<T>): Promise<T> => {
  try {
    return await visit
  } catch (error) {
    if (!isWithoutSession(error) || !isFromSameOrigin(door, request)) throw error
    throw new SendTo({ to: 'sign-in', form: 'lost' })
  }
}

type KeptShape = Pick<FormShape<TProperties>, 'lists' | 'secrets' | 'choices'>

/** Keeps what was typed into a form of ours, without passwords. Nothing else is done with it. */
const keepForm = async (door: Door, call: Call, form: KeptShape): Promise<SentForm | 'nothing'> => {
  if (!isFromSameOrigin(door, call.request)) return 'nothing'
  const sent = await outcomeOf(readValues(call, form))
  const tag = sent.kind === 'done' ? textOf(sent.value[ownFormFields.owner]) : ''
  if (sent.kind === 'refused' || tag === '') return 'nothing'
  const kept = keptCookieOf(door, call, form, tag, sent.value)
  if (kept === null) return 'lost'
  call.cookies = [kept.cookie]
  return kept.areAll ? 'kept' : 'instead'
}

/**
 * Receives a form with a file, which is read like an upload of a program, and counts for its sender like every form. The visit must
 * be that of a member of the app: only they may send a large body.
 * @throws as `receive` does; rate_limited, unavailable
 */
export const receiveUpload = async <T extends TProperties>(
  visit: Visit,
  appId: string,
  form: FormShape<T>,
  effect: Effect,
): Promise<Submission<T> & Pick<MultipartForm, 'files'>> => {
  const { door, call, sessionToken } = visit
  const foreign = originFault(door, call.request)
  if (foreign !== null) throw await refuseForm(door, call, sessionToken, foreign)
  call.notes.appId = appId
  const { fields, files } = await readMultipart(door, call)
  return { ...(await check(visit, form, valuesOf(fields, form), effect)), files }
}

const check = async <T extends TProperties>(
  visit: Visit,
  form: FormShape<T>,
  values: Values,
  effect: Effect,
): Promise<Submission<T>> => {
  const { door, call, tickets } = visit
  const ticket = ticketKey(door, call, tickets, form, values)
  if (ticket instanceof PlatformError) {
    const refused = await refuseForm(door, call, visit.sessionToken, ticket)
    throw isLateForm(visit, form, ticket, values) && keepOf(visit, form, values)
      ? new SendTo({ to: 'page', logCode: logCodeOf(ticket) })
      : refused
  }
  if (await lacksProof(visit, effect)) {
    keepOf(visit, form, values)
    throw new SendTo({ to: 'proof' })
  }
  const { pathname } = new URL(call.request.url)
  if (!visit.kept.some(({ action }) => action === pathname))
    return { visit, fields: fieldsOf(form, values), sent: values, ticket }
  call.cookies = [forgettingCookie(door, call.request, visit.userId, pathname)]
  // From here on it is not kept but sent: a page that shows it again must not say otherwise.
  return {
    visit: { ...visit, kept: withoutLatest(visit.kept, pathname) },
    fields: fieldsOf(form, values),
    sent: values,
    ticket,
  }
}

/**
 * Whether something was typed into a form with such a ticket by the same account: before it signed in again in another tab, or too long
 * ago. A form that binds what its page showed is not shown again: what it showed may have changed.
 */
const isLateForm = (
  { tickets: { owner } }: Visit,
  form: Pick<FormShape<TProperties>, 'bound' | 'secrets'>,
  { facts: { details } }: PlatformError,
  values: Values,
): boolean =>
  (details?.['kind'] === 'form_of_other_session' || details?.['kind'] === 'form_expired') &&
  textOf(values[ownFormFields.owner]) === owner &&
  form.bound.length === 0 &&
  Object.keys(keepable(form, values)).length > 0

/** Keeps the form, as `keepForm` does, and says whether it could. */
const keepOf = ({ door, call, tickets }: Visit, form: KeptShape, values: Values): boolean => {
  const kept = tickets.owner === null ? null : keptCookieOf(door, call, form, tickets.owner, values)
  if (kept !== null) call.cookies = [kept.cookie]
  return kept !== null
}

const keptCookieOf = (door: Door, call: Call, form: KeptShape, tag: string, values: Values) => {
  const { pathname: action } = new URL(call.request.url)
  return keepingCookie(door, call.request, tag, { action, values: keepable(form, values) })
}

/** The fields without passwords, and without what belongs to the form itself. */
export const keepable = ({ secrets }: Pick<KeptShape, 'secrets'>, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.includes(name)))

/** The body: each field once as text, each list as a list. @throws invalid_request for a repeated field */
export const readValues = async (call: Call, form: KeptShape): Promise<Values> => valuesOf(await readForm(call), form)

const valuesOf = (sent: FormFields, { lists, secrets, choices }: KeptShape): Values => {
  const asSent = new Set([...secrets, ...choices])
  const values = new Map<string, string | readonly string[]>(lists.map((name) => [name, []]))
  for (const [name, found] of sent) {
    if (found.length > 1 && !lists.includes(name)) {
      throw refuse('invalid_request', { message: 'A field of the form was sent twice.' })
    }
    const plain = asSent.has(name) ? found : found.map(asMeant)
    values.set(name, lists.includes(name) ? plain : (plain[0] ?? ''))
  }
  return Object.fromEntries(values)
}

/**
 * Browsers send every line end of a text area as CR LF. What was copied, or completed by the keyboard of a phone, often has a space
 * before or after it, and nothing but a password is meant to.
 */
const asMeant = (value: string): string => value.replaceAll('\r\n', '\n').trim()

/**
 * Signs out whoever is signed in here. That it comes from a page of ours is proof enough: the page may be older than the sign-in. If the
 * session has ended before, nothing is left to do: nobody is asked to sign in for that. What was sent is read before anything ends.
 */
export const signOutHere = async <T>(door: Door, request: Request, read: () => T | Promise<T>): Promise<T> => {
  const foreign = originFault(door, request)
  try {
    const { call, session, sessionToken } = await requireVisit(door, request, 'user', 'session')
    if (foreign !== null) throw await refuseForm(door, call, sessionToken, foreign)
    const sent = await read()
    await signOut(door.platform, call, session)
    return sent
  } catch (error) {
    const isOver = error instanceof PlatformError && error.code === 'login_required'
    if (!isOver || foreign !== null) throw error
    return await read()
  }
}

/** The key of the form's ticket, or why the form is refused: it is not from a page of ours that this browser was lately shown. */
export const ticketKey = (
  door: Door,
  { request }: Pick<Call, 'request'>,
  tickets: TicketBook,
  { bound }: Pick<FormShape<TProperties>, 'bound'>,
  values: Values,
  lifetimeSeconds?: number,
): RowKey | PlatformError => {
  const foreign = originFault(door, request)
  if (foreign !== null) return foreign
  const shown = bound.map((name) => textOf(values[name]))
  const read = tickets.read(new URL(request.url).pathname, shown, textOf(values[ownFormFields.ticket]), lifetimeSeconds)
  if (read.kind === 'genuine') return read.key
  if (read.kind === 'expired') return formFault(door, request, 'form_expired')
  if (tickets.isKnown) return formFault(door, request, 'form_of_other_session')
  return formFault(door, request, isAtOtherAddress(door, request) ? 'form_at_other_address' : 'form_without_cookie')
}

/** The refusal of a form that no page of this server's address has sent; null for others. */
export const originFault = (door: Door, request: Request): PlatformError | null => {
  if (isFromSameOrigin(door, request)) return null
  return formFault(door, request, isAtOtherAddress(door, request) ? 'form_at_other_address' : 'form_from_other_site')
}

/** Whether the page was opened here under another address than the public one. Another site can have any origin but that of this request. */
const isAtOtherAddress = ({ platform }: Door, { headers }: Request): boolean => {
  const origin = headers.get('origin')
  return origin !== null && origin !== platform.publicUrl && URL.parse(origin)?.host === headers.get('host')
}

const formFault = ({ platform: { publicUrl: here } }: Door, request: Request, kind: FormCause): PlatformError => {
  const there = request.headers.get('origin') ?? ''
  const openAt = kind === 'form_at_other_address' ? { openAt: new URL(requestedPage(request), here).href } : {}
  return refuse('origin_not_allowed', { message: formCauses[kind]({ here, there }), details: { kind, ...openAt } })
}

/** What was sent with the form of this address, if it is shown again; null otherwise. */
export const typedIn = (visit: Visit): Values | null => visit.refused?.values ?? sentTo(visit, visit.call.path)

/** The same for a form of another address that is on this page. */
export const sentTo = ({ refused, kept }: Visit, action: string): Values | null =>
  [...(refused ? [refused] : []), ...kept].find((form) => form.action === action)?.values ?? null

/** One field; empty when it was not sent. */
export const textOf = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : ''

/** A whole number that somebody typed; NaN for anything but decimal digits. */
export const numberIn = (typed: string): number => (/^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN)

/** A list of values; empty when none was sent. */
export const valuesIn = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? [])

/**
 * The fields by their schema. What a page of ours sends fits: the sentence is for somebody who sends a form in another way.
 * @throws invalid_request, naming the field
 */
export const fieldsOf = <T extends TProperties>(
  { schema }: FormShape<T>,
  values: Values,
): Static<FormShape<T>['schema']> => {
  if (Value.Check(schema, values)) return values
  const { param = '' } = fieldRefusal(schema, Value.Errors(schema, values).First()).facts
  const field = param === '' ? 'one of its fields' : `its field “${param}”`
  throw refuse('invalid_request', {
    param,
    message: `The form does not have ${field} as its page sends it: open the page and use the form there.`,
  })
}

/** The refusal of a form without a valid ticket. It leaves an audit row for the session that was used. */
export const refuseForm = async (
  door: Door,
  call: Call,
  sessionToken: string,
  fault: PlatformError,
): Promise<PlatformError> => await refuseBearer(door, call, fault, 'session', sessionToken, logCodeOf(fault))

type Answers<T> = {
  readonly done: (value: T) => Response | Promise<Response>
  /** The page of the form again, with the reason. */
  readonly refused: (error: PlatformError) => Response | Promise<Response>
  /** For a form that acts only once: the answer when it was sent before. Without it, `refused` answers. */
  readonly sentBefore?: (error: PlatformError) => Response | Promise<Response>
}

/** Answers a form with what its operation gave, or with the reason when the person can correct it; throws other errors. */
export const answerForm = async <T>(
  operation: Promise<T>,
  { done, refused, sentBefore = refused }: Answers<T>,
): Promise<Response> => {
  const outcome = await outcomeOf(operation)
  if (outcome.kind === 'done') return await done(outcome.value)
  const answer = outcome.error.code === 'idempotency_key_reused' ? sentBefore : refused
  return await answer(outcome.error)
}

/** A result, or a refusal that a page can show next to the form. */
export type Outcome<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly error: PlatformError }

/** Waits for the call; a refusal that the person can correct becomes a value, every other error is thrown. */
export const outcomeOf = async <T>(call: Promise<T>): Promise<Outcome<T>> => {
  try {
    return { kind: 'done', value: await call }
  } catch (error) {
    if (error instanceof PlatformError && isCorrectable(error)) return { kind: 'refused', error }
    throw error
  }
}

/** An ended session is not corrected in the form: the person has to sign in. */
const isCorrectable = ({ status, code }: PlatformError): boolean =>
  [400, 403, 409, 422, 429].includes(status) || code === 'invalid_login'
