import { Elysia } from 'elysia'
import { revokeByClient } from '../../operations/oauth/revoke.ts'
import type { Door } from '../door.ts'
import { withClientLimits } from '../client-limits.ts'
import { callOf } from '../call.ts'
import { clientOf } from './client-authentication.ts'
import { needed, readParameters } from './parameters.ts'
import { revocationPath } from './paths.ts'
import { uncachedEmpty } from './uncached.ts'

/** Token revocation (RFC 7009). A hint is taken and not needed: a token says what it is. */
export const revocationRoute = (door: Door) =>
  new Elysia()
    .onParse({ as: 'local' }, () => ({}))
    .post(revocationPath, async ({ request }) => {
      const call = callOf(request)
      const parameters = await readParameters(call)
      const client = clientOf(call, parameters)
      const token = needed(parameters, 'token')
      await withClientLimits(
        door,
        call,
        client.clientId,
        'client_secret',
        async () => await revokeByClient(door.platform, call, client, token),
      )
      call.notes.clientId = client.clientId
      return uncachedEmpty()
    })
