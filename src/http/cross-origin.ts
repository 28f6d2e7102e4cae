import type { AnyElysia } from 'elysia'
import { isKnownOrigin } from '../operations/embedding/embedding.ts'
import { type Call, callOf } from './call.ts'
import type { Door } from './door.ts'
import { allowOf } from './router.ts'

/** How long a browser may remember the answer to a preflight request, in seconds. */
const rememberedSeconds = 600

/** Headers that an app's page may send and read, beyond those that every page may (Fetch standard, section 3.3). */
const allowedHeaders = 'Authorization, Content-Type, X-Service-Api-Version, X-Request-Id'
const exposedHeaders = 'X-Request-Id, X-Service-Api-Version, WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy'

/** Lets the page that sent the request read the answer. Without credentials: no cookie comes with a call from another origin. */
export const setCrossOriginHeaders = ({ openTo }: Call, headers: Headers): void => {
  if (openTo === null) return
  headers.set('access-control-allow-origin', openTo)
  headers.set('access-control-expose-headers', exposedHeaders)
  headers.set('vary', 'Origin')
}

/** Lets the page read the answer if the builder has lately opened an app of its origin. */
export const openToKnownOrigin = async (door: Door, call: Call): Promise<boolean> => {
  const origin = call.request.headers.get('origin')
  if (origin === null || !(await isKnownOrigin(door.platform, origin))) return false
  call.openTo = origin
  return true
}

/**
 * Adds the route that answers a browser's preflight request, which it sends before a page of another origin may call. For an
 * origin that no app of the builder has lately been opened from, the answer allows nothing. `methods` are all that the path has.
 */
export const answerPreflight = (plugin: AnyElysia, door: Door, path: string, methods: readonly string[]): void => {
  plugin.options(
    path,
    async ({ request }) => {
      const headers = new Headers({ allow: allowOf([...methods, 'OPTIONS']), vary: 'Origin' })
      if (await openToKnownOrigin(door, callOf(request))) {
        headers.set('access-control-allow-methods', methods.join(', '))
        headers.set('access-control-allow-headers', allowedHeaders)
        headers.set('access-control-max-age', String(rememberedSeconds))
      }
      return new Response(null, { status: 204, headers })
    },
    { detail: { hide: true } },
  )
}
