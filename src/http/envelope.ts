import type { PlatformError } from '../domain/errors.ts'
import type { Call } from './call.ts'
import { bearerPaths } from './paths.ts'

/**
 * A refusal in another format than the envelope, for people and standard clients; null for everyone else. `withoutSlash` is the path without the
 * slashes at its end, if something can be read there.
 */
export type RefusalPage = (error: PlatformError, call: Call, withoutSlash?: string | null) => Response | null

/** The one shape of an error on every route (contract section 1). */
export const errorResponse = (error: PlatformError, call: Call): Response => {
  call.notes.errorCode = error.code
  const { param, details, retryAfterSeconds, replayed } = error.facts
  const body = JSON.stringify({
    error: { code: error.code, message: error.message, requestId: call.requestId, param, details },
  })
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (retryAfterSeconds !== undefined) headers['retry-after'] = retryAfterOf(error)
  if (replayed === true) headers['idempotent-replayed'] = 'true'
  const challenge = bearerChallengeOf(error, call)
  if (challenge !== null) headers['www-authenticate'] = challenge
  return new Response(body, { status: error.status, headers })
}

/** The Retry-After header: whole seconds, at least one. */
export const retryAfterOf = ({ facts }: PlatformError): string =>
  String(Math.max(1, Math.ceil(facts.retryAfterSeconds ?? 1)))

/** The WWW-Authenticate header of RFC 6750 section 3. */
export const bearerChallengeOf = (error: PlatformError, call: Call): string | null => {
  switch (error.code) {
    case 'invalid_token':
      return call.authorization.kind === 'bearer' ? 'Bearer error="invalid_token"' : 'Bearer'
    case 'login_required':
      return 'Bearer'
    case 'insufficient_scope':
      return `Bearer error="insufficient_scope"${scopeAttribute(error.facts.details?.['scope'])}`
    default: {
      // What stands before another API refuses there a token that does not open it, for whatever reason.
      const isOfToken = bearerPaths.includes(call.path) || opensTooLittle.has(error.code)
      return error.status === 403 && isOfToken && call.authorization.kind === 'bearer'
        ? 'Bearer error="insufficient_scope"'
        : null
    }
  }
}

/** Refusals of a token for what it is, wherever it is shown. */
const opensTooLittle: ReadonlySet<string> = new Set(['token_type_not_allowed', 'right_missing'])

/** Only a scope string of RFC 6749 section 3.3; other characters could end the quotes. */
const scopeAttribute = (scope: unknown): string =>
  typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(scope)
    ? `, scope="${scope}"`
    : ''
