/**
 * The management API: calls of the builder itself, with a service key. The envelope, codes, cursors and request IDs are those of
 * the contract; the version header is optional. Records are addressed by the builder's own IDs, so that repeating a call
 * changes nothing.
 */
import { KindGuard, type Static, type TSchema } from '@sinclair/typebox'
import { apiVersionRefusal } from '../domain/api-version.ts'
import { type ErrorCode, refuse } from '../domain/errors.ts'
import type { ServiceRight } from '../domain/service-key.ts'
import type { Actor } from '../operations/audit/event.ts'
import { actingWithKey } from '../operations/acting-as.ts'
import type { Platform } from '../operations/platform.ts'
import { authenticateServiceKey, type ServiceCaller } from '../operations/authenticate.ts'
import type { Call } from './call.ts'
import type { Details, PathParameter } from './contract/details.ts'
import type { Door } from './door.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import {
  type BodyReader,
  type Endpoint,
  endpoint,
  type Guard,
  type RequestPart,
  requireKnownNames,
} from './endpoint.ts'
import { pathParametersOf } from './paths.ts'
import { secretPrefixes } from '../domain/secret.ts'
import { CountedRefusal, settle } from '../operations/decide.ts'
import { refuseBearer } from './bearer.ts'
import { readBasicCredentials } from './standard-client.ts'
import { takeShare } from './limits.ts'

export const managementPath = '/api/management'

type Answers = { readonly [status: number]: TSchema }

type Managed<Query, Body, A extends Answers> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** After `/api/management`. */
  readonly path: string
  readonly right: ServiceRight
  readonly query?: RequestPart<Query>
  readonly body?: BodyReader<Body>
  readonly answers: A
  readonly errors?: readonly ErrorCode[]
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly PathParameter[]
  readonly otherBody?: Details['otherBody']
  readonly run: (
    door: Door,
    call: Call,
    received: {
      readonly actor: Actor
      readonly caller: ServiceCaller
      /** The parameters of the path, decoded. */
      readonly path: Readonly<Record<string, string>>
      readonly query: Query
      readonly body: Body
      /** Without the check that the key is still live, which each transaction of the door begins with. */
      readonly unchecked: Platform
    },
  ) => Promise<Static<A[keyof A & number]> | Response>
}

/** A live service key, within its share of calls. */
const serviceKey: Guard<ServiceCaller> = {
  callers: ['serviceKey'],
  errors: ['invalid_token', 'right_missing'],
  admit: (door, call) => {
    const version = call.request.headers.get('x-service-api-version')
    const refusal = version === null ? null : apiVersionRefusal(version)
    if (refusal !== null) throw refusal
    return requireServiceKey(door, call)
  },
}

/**
 * The query, and nothing else in it: a call with a filter that it does not have, or whose name is misspelt, would answer with records
 * that nobody asked for.
 */
const nothingElse = <T>(query: RequestPart<T> | undefined): RequestPart<T> => {
  const schema = query?.schema ?? null
  const names = schema !== null && KindGuard.IsObject(schema) ? Object.keys(schema.properties) : []
  return {
    schema,
    receive: (door, call) => {
      requireKnownNames(new URL(call.request.url).searchParams.keys(), names)
      return query === undefined ? (null as T) : query.receive(door, call) // what an entry leaves out is null for its `run`
    },
  }
}

/** An endpoint of the management API. The right is checked after the query and the body (contract section 1). */
export function managed<Query = null, Body = null, const A extends Answers = Answers>(
  entry: Managed<Query, Body, A>,
): Endpoint {
  const {
    method,
    path,
    right,
    query,
    body,
    answers,
    errors = [],
    id,
    summary,
    description,
    parameters = [],
    otherBody,
    run,
  } = entry
  return endpoint({
    method,
    path: managementPath + path,
    caller: serviceKey,
    query: nothingElse(query),
    ...(body === undefined ? {} : { body }),
    answers,
    errors: ['api_version_unsupported', 'api_version_retired', ...errors],
    details: {
      id,
      summary,
      description: `${description} Needs the right ${right}.`,
      tag: 'Management',
      parameters,
      ...(otherBody === undefined ? {} : { otherBody }),
    },
    run: async (door, call, received) => {
      const { caller } = received
      idempotencyKeyOf(call) // accepted and not needed: each of these calls may be sent again
      await requireRight(door, call, caller, right)
      const actor = { kind: 'service', id: caller.id } as const
      const acting = { ...door, platform: actingWithKey(door.platform, call, caller) }
      return await run(acting, call, { ...received, actor, path: pathParametersOf(call), unchecked: door.platform })
    },
  })
}

/** A service key as it was presented; `id` if the caller names one. */
export type PresentedKey = { readonly id: string | null; readonly secret: string }

/** The service key of a request: as a bearer token, or by HTTP Basic with its ID as the name. Null if there is none. */
export const presentedServiceKey = ({ authorization }: Call): PresentedKey | null => {
  if (authorization.kind === 'none') return null
  if (authorization.kind === 'bearer') {
    const { token } = authorization
    return token.startsWith(secretPrefixes.serviceKey) ? { id: null, secret: token } : null
  }
  const basic = readBasicCredentials(authorization.header)
  return basic !== null && basic.clientId.startsWith('svk_') ? { id: basic.clientId, secret: basic.clientSecret } : null
}

/**
 * The caller behind a service key. A wrong one is audited, and counts against its address if it was never issued.
 * @throws invalid_token, rate_limited
 */
export const requireServiceKey = async (
  door: Door,
  call: Call,
  presented: PresentedKey | null = presentedServiceKey(call),
): Promise<ServiceCaller> => {
  if (presented === null && call.authorization.kind === 'none') throw refuse('invalid_token')
  const { id = null, secret = '' } = presented ?? {}
  const caller = await authenticateServiceKey(door.platform, call, secret, { id, now: call.now })
  if (caller === null) throw await refuseBearer(door, call, refuse('invalid_token'), 'service_key', secret)
  takeShare(door, call, 'management', `${caller.id} ${call.addressKey}`)
  return caller
}

/** The refusal of a call that the key has no right to leaves an audit row. @throws right_missing */
export const requireRight = async (
  { platform }: Door,
  call: Call,
  { id, rights }: ServiceCaller,
  right: ServiceRight,
): Promise<void> => {
  if (rights.includes(right)) return
  const error = refuse('right_missing', { details: { right } })
  const facts = { actor: { kind: 'service', id }, action: 'service_key.use', target: id, detail: { right } } as const
  await settle(platform, call, new CountedRefusal(error, facts), call.now)
}
