import { type AnyElysia, Elysia, type ValidationError } from 'elysia'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { BodyRule } from './admission.ts'
import { type Call, callOf } from './call.ts'
import { docsRoutes } from './docs.ts'
import type { Door } from './door.ts'
import type { Endpoint } from './endpoint.ts'
import { errorResponse, type RefusalPage } from './envelope.ts'
import { fieldRefusal } from './schema-check.ts'
import { endpointsOf } from './table.ts'

/** Everything that this server answers to programs. Pages for people are mounted beside it. */
export const createHttpApp = (door: Door, refusalPage: RefusalPage = () => null) =>
  baseApp(door.log, refusalPage)
    .use(docsRoutes())
    .use(endpointRoutes(door, endpointsOf(door)))

/**
 * An Elysia app without routes, with the rules for all of them. Elysia must not answer errors itself, since its answers repeat
 * the body and send the messages of errors. Nor may it read bodies: it would read one wherever a method may have one, before
 * the caller is authenticated and without a limit. Routes that take a body read it themselves.
 */
export const baseApp = (log: Log, refusalPage: RefusalPage) =>
  new Elysia({ handler: { standardHostname: false }, strictPath: true })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      const call = callOf(request)
      const refusal = code === 'VALIDATION' ? refusalFromValidation(error) : refusalFrom(code, error)
      if (refusal.code === 'internal_error') log.error('http.failed', { requestId: call.requestId, cause: error })
      return refusalPage(refusal, call) ?? errorResponse(refusal, call)
    })
    .onParse({ as: 'global' }, () => ({}))

export const endpointRoutes = (door: Door, endpoints: readonly Endpoint[]): AnyElysia => {
  const routes: AnyElysia = new Elysia()
  for (const endpoint of endpoints) routes.use(endpoint.route(door))
  return routes
}

/** What the shell does with a route itself: it checks the body's size and type, and answers the hot ones directly. */
export type RouteRule = {
  readonly body: BodyRule
  readonly answer: ((call: Call) => unknown) | null
}

/** The rules of the table's routes. With `isDirect` false, Elysia answers the hot ones too. */
export const endpointRules = (
  door: Door,
  isDirect: boolean,
): ((method: string, path: string) => RouteRule | undefined) => {
  const rules = new Map(
    endpointsOf(door).map(({ method, path, bodyRule, isHot, answer }) => [
      `${method} ${path}`,
      { body: bodyRule, answer: isHot && isDirect ? (call: Call) => answer(door, call) : null },
    ]),
  )
  return (method, path) => rules.get(`${method} ${path}`)
}

const refusalFrom = (code: string | number, error: unknown): PlatformError => {
  if (error instanceof PlatformError) return error
  // What a parser throws arrives wrapped.
  if (error instanceof Error && error.cause instanceof PlatformError) return error.cause
  switch (code) {
    case 'NOT_FOUND':
      return refuse('route_not_found')
    case 'PARSE':
      return refuse('invalid_json')
    case 'INVALID_COOKIE_SIGNATURE':
      return refuse('login_required')
    default:
      return refuse('internal_error')
  }
}

type FailedValidation = Pick<ValidationError, 'type' | 'validator' | 'valueError'>

/** An answer that breaks its own schema is a failure of the server, not of the caller. */
const refusalFromValidation = ({ type, validator, valueError }: FailedValidation): PlatformError => {
  if (type === 'response') return refuse('internal_error')
  return fieldRefusal(validator, valueError?.path ?? '')
}
