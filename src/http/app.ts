import { type AnyElysia, Elysia } from 'elysia'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { BodyRule } from './admission.ts'
import { type Call, callOf } from './call.ts'
import { docsRoutes } from './docs.ts'
import type { Door } from './door.ts'
import type { Endpoint } from './endpoint.ts'
import { errorResponse, type RefusalPage } from './envelope.ts'
import { endpointsOf } from './table.ts'

/** Everything that this server answers to programs. The pages for people are mounted separately. */
export const createHttpApp = (door: Door, refusalPage: RefusalPage = () => null) =>
  baseApp(door.log, refusalPage)
    .use(docsRoutes(door.platform.publicUrl))
    .use(endpointRoutes(door, endpointsOf(door)))

/**
 * An Elysia app without routes, with the rules for all of them. Elysia must not answer errors itself, since its answers repeat
 * the body and send the messages of errors. Nor may it read bodies: it would read one wherever a method may have one, before
 * the caller is authenticated and without a limit. Routes that take a body read it themselves.
 */
export const baseApp = (log: Log, refusalPage: RefusalPage) =>
  new Elysia({ handler: { standardHostname: false }, strictPath: true })
    .onError({ as: 'global' }, ({ error, request }) => {
      const call = callOf(request)
      const refusal = error instanceof PlatformError ? error : refuse('internal_error')
      if (refusal.code === 'internal_error') log.error('http.failed', { requestId: call.requestId, cause: error })
      return refusalPage(refusal, call) ?? errorResponse(refusal, call)
    })
    .onParse({ as: 'global' }, () => ({}))

export const endpointRoutes = (door: Door, endpoints: readonly Endpoint[]): AnyElysia => {
  const routes: AnyElysia = new Elysia()
  for (const endpoint of endpoints) endpoint.addRoute(routes, door)
  return routes
}

/** What the shell does with a route itself: it checks the body's size and type, and answers the hot ones directly. */
export type RouteRule = {
  readonly body: BodyRule
  readonly answer: ((call: Call) => unknown) | null
  /** What every answer of `answer` has besides the headers of all routes. */
  readonly headers?: Readonly<Record<string, string>>
  /** The headers that each answer of `answer` gives a value, in `call.headers`. */
  readonly valueHeaders?: readonly string[]
  /** Whether no answer of `answer` has a body. */
  readonly isEmpty?: boolean
}

/** The rules of the table's routes. */
export const endpointRules = (door: Door): ((method: string, path: string) => RouteRule | undefined) => {
  const rules = new Map(
    endpointsOf(door).map(({ method, path, bodyRule, isHot, answer, ...rule }) => [
      `${method} ${path}`,
      { ...rule, body: bodyRule, answer: isHot ? (call: Call) => answer(door, call) : null },
    ]),
  )
  return (method, path) => rules.get(`${method} ${path}`)
}
