import { Elysia } from 'elysia'
import { introspect, type TokenFacts } from '../../operations/oauth/introspect.ts'
import type { Door } from '../door.ts'
import { withClientLimits } from '../client-limits.ts'
import { callOf } from '../call.ts'
import { clientOf } from './client-authentication.ts'
import { needed, readParameters } from './parameters.ts'
import { introspectionPath } from './paths.ts'
import { uncachedJson } from './uncached.ts'

/** Token introspection (RFC 7662), for the resource servers of an app, which have its credentials. */
export const introspectionRoute = (door: Door) =>
  new Elysia()
    .onParse({ as: 'local' }, () => ({}))
    .post(introspectionPath, async ({ request }) => {
      const call = callOf(request)
      const parameters = await readParameters(call)
      const client = clientOf(call, parameters)
      const text = needed(parameters, 'token')
      const { appId, token } = await withClientLimits(
        door,
        call,
        client.clientId,
        'client_secret',
        async () => await introspect(door.platform, call, client, text),
      )
      call.notes.clientId = client.clientId
      call.notes.appId = appId
      return uncachedJson(token === null ? inactive : told(token, door.platform.publicUrl))
    })

const inactive = { active: false } as const

/**
 * RFC 7662 section 2.2. A refresh token has no token type (RFC 6749 section 5.1): whoever takes only Bearer tokens is not
 * fooled by one.
 */
const told = ({ kind, subject, clientId, scope, issuedAt, expiresAt }: TokenFacts, issuer: string) => ({
  active: true,
  scope,
  client_id: clientId,
  ...(kind === 'refresh_token' ? {} : { token_type: 'Bearer' }),
  exp: wholeSeconds(expiresAt),
  iat: wholeSeconds(issuedAt),
  sub: subject,
  iss: issuer,
})

const wholeSeconds = (epochMs: number): number => Math.floor(epochMs / 1000)
