import { type AnyElysia, Elysia } from 'elysia'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { Log } from '../runtime/log.ts'
import { callOf } from './call.ts'
import { answerPreflight } from './cross-origin.ts'
import type { Door } from './door.ts'
import type { Endpoint } from './endpoint.ts'
import { errorResponse, type RefusalPage } from './envelope.ts'
import { endpointsOf } from './table.ts'

/** The Elysia app of the whole table. The pages for people have an app of their own. */
export const createHttpApp = (door: Door, refusalPage: RefusalPage = () => null) =>
  baseApp(door.log, refusalPage).use(endpointRoutes(door, endpointsOf(door)))

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
  const crossOrigin = Map.groupBy(
    endpoints.filter(({ isCrossOrigin }) => isCrossOrigin),
    ({ path }) => path,
  )
  for (const [path, own] of crossOrigin) {
    const methods = own.map(({ method }) => method)
    answerPreflight(routes, door, path, methods)
  }
  return routes
}
