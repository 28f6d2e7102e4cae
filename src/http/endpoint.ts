/**
 * An endpoint is one entry of the table in `table.ts`: its schemas, who may call it, its limits, its errors, what the OpenAPI
 * document says of it, and the function that answers. Checks run in the order of contract section 1: the caller (401), its
 * share of calls (429), the query and the body (400). Then comes `run`, which begins with what schemas cannot say (400) and
 * with the permission (403).
 *
 * Every entry is an Elysia route with typed schemas. A hot entry is answered by the shell directly, because Elysia's generic
 * layers cost several microseconds per request, and so that monitors do not make a server load Elysia. Both call `answer`.
 */
import { sentTwice } from './wire.ts'
import { CloneType, type Static, type TObject, type TSchema } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { type Awaitable, andThen } from '../domain/awaitable.ts'
import { type ErrorCode, refuse } from '../domain/errors.ts'
import { remembered } from '../domain/remembered.ts'
import { type BodyRule, formBodies, jsonBodies, lineBodies, uploadBodies } from './admission.ts'
import { type Call, callOf } from './call.ts'
import { type Details, openApiDetails, type SecurityScheme } from './contract/details.ts'
import { errorResponses } from './contract/errors.ts'
import type { Door } from './door.ts'
import { isContractPath } from './paths.ts'
import { checkOf } from './schema-check.ts'
import { readJson } from './strict-body.ts'
import { readUpload } from './upload-json.ts'

/** Who may call, as far as a header or cookie can tell. */
export type Guard<Caller, Share = null> = {
  readonly callers: readonly SecurityScheme[]
  /** The refusals of callers. */
  readonly errors: readonly ErrorCode[]
  /** The caller, within its share of calls; throws the refusal of everybody else. */
  readonly admit: (door: Door, call: Call, share: Share) => Awaitable<Caller>
}

const anyone: Guard<null, unknown> = { callers: ['none'], errors: [], admit: () => null }

/** How a query or a body is read and checked. */
export type RequestPart<T> = {
  /** The schema of the route; null if it has none. */
  readonly schema: TSchema | null
  readonly receive: (door: Door, call: Call) => Awaitable<T>
}

const unread: RequestPart<null> = { schema: null, receive: () => null }

/** What `read` gives, if it follows the schema. */
const readerOf = <T extends TSchema>(
  schema: T,
  read: (door: Door, call: Call) => Awaitable<unknown>,
  documented: TSchema = schema,
): RequestPart<Static<T>> => {
  const check = checkOf(schema)
  return { schema: documented, receive: (door, call) => andThen(read(door, call), check) }
}

/**
 * The parameters of this schema. Others are ignored; one that comes twice is refused (RFC 6749 section 3.1). Short queries that
 * follow the schema are remembered: a proxy that guards an API asks with the same one every time.
 */
export const queryOf = <T extends TObject>(schema: T): RequestPart<Static<T>> => readQueryBy(schema, () => {})

/** The parameters of this schema, and nothing else: for calls where a parameter that is not read would make the answer a wrong one. */
export const onlyQueryOf = <T extends TObject>(schema: T): RequestPart<Static<T>> =>
  readQueryBy(schema, requireKnownNames)

const readQueryBy = <T extends TObject>(schema: T, requireNames: typeof requireKnownNames): RequestPart<Static<T>> => {
  const names = Object.keys(schema.properties)
  const check = checkOf(schema)
  const receive = remembered(
    rememberedQueries,
    (text: string): Static<T> => {
      requireNames(new URLSearchParams(text).keys(), names)
      return Object.freeze(check(readQuery(text, names)))
    },
    (_, text) => text.length <= longestRemembered,
  )
  return { schema, receive: (_, { request }) => receive(queryTextOf(request.url)) }
}

/** @throws invalid_request for a parameter that is not one of these */
export const requireKnownNames = (sent: Iterable<string>, names: readonly string[]): void => {
  if ([...sent].every((name) => names.includes(name))) return
  const known = names.length === 0 ? 'This call takes no query.' : `The query of this call has: ${names.join(', ')}.`
  const message = `There is no such query parameter. ${known}`
  throw refuse('invalid_request', { message, details: { allowed: names } })
}

const rememberedQueries = 64
const longestRemembered = 200

const queryTextOf = (url: string): string => {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}

const readQuery = (text: string, names: readonly string[]): unknown => {
  const fields: Record<string, string> = {}
  if (text === '') return fields
  for (const [name, value] of parametersOf(text)) {
    if (!names.includes(name)) continue
    if (Object.hasOwn(fields, name)) throw refuse('invalid_request', { param: name, message: sentTwice })
    fields[name] = value
  }
  return fields
}

/** As `URLSearchParams` has them. A query without escapes, as nearly all are, is only cut up, which is faster. */
const parametersOf = (query: string): Iterable<readonly [name: string, value: string]> =>
  /^\?|[%+]/.test(query)
    ? new URLSearchParams(query)
    : query.split('&').map((pair) => {
        const [name = '', ...value] = pair.split('=')
        return [name, value.join('=')]
      })

/** The rule is checked by the shell, before anything of the body is read. */
export type BodyReader<T> = RequestPart<T> & { readonly rule: BodyRule; readonly errors: readonly ErrorCode[] }

const noBody: BodyReader<null> = { ...unread, rule: jsonBodies, errors: [] }
/** The refusals of a body that came where none is read, and of a JSON body. */
const unreadBodyErrors = ['payload_too_large', 'unsupported_media_type'] as const
const bodyErrors = ['invalid_json', ...unreadBodyErrors] as const

/** `documented` describes the body better than the schema that is checked. */
export const jsonBody = <T extends TSchema>(schema: T, documented: TSchema = schema): BodyReader<Static<T>> => ({
  rule: jsonBodies,
  errors: bodyErrors,
  ...readerOf(schema, (_, call) => readJson(call), documented),
})

/** JSON with a file in it, which is decoded into `call.file`. */
export const uploadBody = <T extends TSchema>(schema: T): BodyReader<Static<T>> => ({
  rule: uploadBodies,
  errors: bodyErrors,
  ...readerOf(schema, readUpload),
})

/** Lines that `run` reads as they arrive. */
export const lineBody: BodyReader<null> = { ...unread, rule: lineBodies, errors: unreadBodyErrors }

/** No body, or a form that is not read. */
export const ignoredBody: BodyReader<null> = {
  ...unread,
  rule: {
    limitBytes: formBodies.limitBytes,
    mediaTypes: [...formBodies.mediaTypes, ...jsonBodies.mediaTypes],
    isOptional: true,
  },
  errors: unreadBodyErrors,
}

/** A form of the standard wire format. */
export const formBody = <T>(read: (call: Call) => Awaitable<T>): BodyReader<T> => ({
  rule: formBodies,
  errors: bodyErrors,
  schema: null,
  receive: (_, call) => read(call),
})

/**
 * The schema as Elysia takes it for a route. It leaves the check to `answer`, through the Standard Schema interface: a body must
 * not be read before its caller is known. A copy, since Elysia changes the schemas that it is given.
 */
const asRouteSchema = (schema: TSchema): TSchema =>
  Object.defineProperty(CloneType(schema), '~standard', {
    value: { version: 1, vendor: 'app-platform', validate: (value: unknown) => ({ value }) },
  })

type Received<Caller, Query, Body> = { readonly caller: Caller; readonly query: Query; readonly body: Body }

type Answers = { readonly [status: number]: TSchema }

type Entry<Caller, Share, Query, Body, A extends Answers> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** Without a guard anyone may call; a client that has to authenticate does so in the body. */
  readonly caller?: Guard<Caller, Share>
  /** The limit that the caller's calls count against. */
  readonly share?: Share
  readonly query?: RequestPart<Query>
  readonly body?: BodyReader<Body>
  /** Bodies of answers, by status. */
  readonly answers: A
  /** Headers that every answer has, unless it is a refusal. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers whose values `run` puts into `call.headers`. Every answer has all of them, unless it is a refusal. */
  readonly valueHeaders?: readonly string[]
  /** Further refusals than those of the caller and the body. */
  readonly errors?: readonly ErrorCode[]
  /** Without details, the endpoint is not in the document. */
  readonly details?: Details
  /** Pages of other origins may ask whether they may call (a CORS preflight). */
  readonly isCrossOrigin?: boolean
  readonly isHot?: boolean
  /** The body of the answer, of status `call.status`; or a whole answer. */
  readonly run: (
    door: Door,
    call: Call,
    received: Received<Caller, Query, Body>,
  ) => Awaitable<Static<A[keyof A & number]> | Response>
}

/** An entry of the table, without its types. */
export type Endpoint = {
  readonly method: string
  readonly path: string
  readonly bodyRule: BodyRule
  readonly isHot: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly valueHeaders: readonly string[]
  /** Whether no answer has a body, unless it is a refusal. */
  readonly isEmpty: boolean
  readonly isCrossOrigin: boolean
  /** Everything from the caller to the answer. */
  readonly answer: (door: Door, call: Call) => Awaitable<unknown>
  /** Adds the Elysia route that calls it. */
  readonly addRoute: (routes: AnyElysia, door: Door) => void
}

/** What an entry leaves out is null for its `run`. */
export function endpoint<Caller = null, Share = null, Query = null, Body = null, const A extends Answers = Answers>(
  entry: Entry<Caller, Share, Query, Body, A>,
): Endpoint
export function endpoint(entry: Entry<unknown, unknown, unknown, unknown, Answers>): Endpoint {
  const body = entry.method === 'GET' ? noBody : { ...noBody, errors: unreadBodyErrors }
  const whole = {
    caller: anyone,
    share: null,
    query: unread,
    body,
    headers: {},
    valueHeaders: [],
    errors: [],
    isCrossOrigin: false,
    ...entry,
  }
  const { method, path, headers, valueHeaders, isCrossOrigin } = whole
  const answer = answerOf(whole)
  return {
    method,
    path,
    bodyRule: whole.body.rule,
    isHot: entry.isHot === true,
    headers,
    valueHeaders,
    isEmpty: Object.keys(entry.answers).every((status) => status === '204'),
    isCrossOrigin,
    answer,
    addRoute: (routes, door) => {
      routes.route(
        method,
        path,
        async ({ request, set }) => {
          const call = callOf(request)
          const value = await answer(door, call)
          set.status = call.status
          Object.assign(set.headers, headers, call.headers)
          return value
        },
        documented(whole),
      )
    },
  }
}

/** An entry in which nothing is left out that its answer or its document needs. */
type WholeEntry = Entry<unknown, unknown, unknown, unknown, Answers> &
  Required<Pick<Entry<unknown, unknown, unknown, unknown, Answers>, 'caller' | 'query' | 'body' | 'errors'>>

/** Checks and runs in order. While the store answers at once, it needs no promise. */
const answerOf = ({ caller, share, query, body, run }: WholeEntry): Endpoint['answer'] => {
  // Not with `then`: a promise that becomes another promise takes three turns of the queue more than one that awaits it.
  const runWhenSent = async (door: Door, call: Call, admitted: unknown, asked: unknown, sent: Promise<unknown>) =>
    await run(door, call, { caller: admitted, query: asked, body: await sent })

  return (door, call) =>
    andThen(caller.admit(door, call, share), (admitted) =>
      andThen(query.receive(door, call), (asked) => {
        const sent = body.receive(door, call)
        return sent instanceof Promise
          ? runWhenSent(door, call, admitted, asked, sent)
          : run(door, call, { caller: admitted, query: asked, body: sent })
      }),
    )
}

/** The schemas and the words of the route, for the document. */
const documented = (entry: WholeEntry): Parameters<AnyElysia['route']>[3] => {
  const { path, caller, query, body, errors, details } = entry
  const answers = Object.entries(entry.answers).map(([status, schema]) => [status, CloneType(schema)] as const)
  return {
    ...(query.schema === null ? {} : { query: asRouteSchema(query.schema) }),
    ...(body.schema === null ? {} : { body: asRouteSchema(body.schema) }),
    response: {
      ...Object.fromEntries(answers),
      ...errorResponses([...body.errors, ...caller.errors, ...errors], path),
    },
    detail: details === undefined ? { hide: true } : openApiDetails(details, caller.callers, isContractPath(path)),
  }
}
