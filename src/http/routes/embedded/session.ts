import { Elysia } from 'elysia'
import { exchangeInstallSessionCode } from '../../../operations/embedding/exchange-install-session-code.ts'
import { copyForElysia } from '../../contract/copy-for-elysia.ts'
import { embeddedSessionRequest } from '../../contract/embedded.ts'
import { openToKnownOrigin, preflight } from '../../cross-origin.ts'
import type { Door } from '../../door.ts'
import { jsonBody } from '../../json-body.ts'
import { withClientLimits } from '../../client-limits.ts'
import { callOf } from '../../call.ts'

const path = '/api/embedded/session'

/** The exchange for the page of an app in a frame; no part of the exposed contract (spec section 1). */
export const embeddedSessionRoute = (door: Door) => new Elysia().use(preflight(door, path, 'POST')).use(exchange(door))

const exchange = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => {
      await openToKnownOrigin(door, callOf(request))
      return {}
    })
    .use(jsonBody(embeddedSessionRequest))
    .post(
      path,
      async ({ request, body: { clientId, code } }) => {
        const call = callOf(request)
        const issued = await withClientLimits(
          door,
          call,
          clientId,
          'install_session_code',
          async () =>
            await exchangeInstallSessionCode(door.platform, call, {
              clientId,
              code,
              origin: request.headers.get('origin'),
            }),
        )
        const { notes } = call
        notes.appId = issued.appId
        notes.clientId = clientId
        notes.userId = issued.userId
        door.platform.observe.issued('embedded_session')
        const answer = {
          sessionToken: issued.sessionToken,
          expiresIn: issued.expiresInSeconds,
          install: issued.install,
          scope: issued.scope,
        }
        return Response.json(answer, { headers: { 'cache-control': 'no-store' } })
      },
      { body: copyForElysia(embeddedSessionRequest), detail: { hide: true } },
    )
