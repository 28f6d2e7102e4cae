import { type ErrorCode, type PlatformError, statusOf } from '../domain/errors.ts'
import { bearerChallengeOf, type RefusalPage, retryAfterOf } from './envelope.ts'
import { bearerPaths, formPaths } from './paths.ts'

/** Messages that speak of JSON or of the contract's names are replaced here. */
const descriptions: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_json: 'The form is not properly encoded.',
  unsupported_grant_type: 'The grant type must be authorization_code, refresh_token or client_credentials.',
}

/** RFC 6749 section 5.2 and RFC 9110 section 15.5.2: every 401 says how to authenticate. */
const basicChallenge = 'Basic realm="app-platform", charset="UTF-8"'

/** A refusal in the format of the RFCs, on the paths of the standard wire format; null everywhere else. */
export const standardRefusal: RefusalPage = (error, call) => {
  const errorOf = standardErrorsOf(call.path)
  if (errorOf === null) return null
  call.notes.errorCode = error.code
  const { name, status } = errorOf(error.code)
  const headers: Record<string, string> = { 'content-type': 'application/json', pragma: 'no-cache' }
  const challenge = errorOf === bearerErrorOf ? bearerChallengeOf(error, call) : status === 401 ? basicChallenge : null
  if (challenge !== null) headers['www-authenticate'] = challenge
  if (status === 429 || status === 503) headers['retry-after'] = retryAfterOf(error)
  const description = descriptions[error.code] ?? described(error, errorOf)
  return new Response(JSON.stringify({ error: name, error_description: description }), { status, headers })
}

/** These bodies have no field for the name of a parameter. Messages of forms have it. */
const described = ({ code, message, facts }: PlatformError, errorOf: typeof clientErrorOf): string =>
  errorOf === bearerErrorOf && code === 'invalid_request' && facts.param !== undefined
    ? `${facts.param}: ${message}`
    : message

/**
 * The errors of RFC 6749 section 5.2, and those of section 4.1.2.1 for cases that it leaves open. Section 5.2 prescribes 400 for
 * its errors except `invalid_client`; all others keep their status.
 */
const named: Readonly<Partial<Record<ErrorCode, readonly [name: string, status?: number]>>> = {
  invalid_client: ['invalid_client'],
  invalid_token: ['invalid_client'], // a service key in the place of a client
  invalid_grant: ['invalid_grant', 400],
  invalid_scope: ['invalid_scope', 400],
  invalid_target: ['invalid_target', 400], // RFC 8707 section 2
  scope_not_allowed: ['invalid_scope', 400],
  scope_not_available: ['invalid_scope', 400],
  unsupported_grant_type: ['unsupported_grant_type', 400],
  app_inactive: ['unauthorized_client', 400],
  right_missing: ['insufficient_scope'], // RFC 6750 section 3.1
  token_not_owned: ['invalid_grant', 400], // "was issued to another client" (RFC 7009 section 2.1, RFC 6749 section 5.2)
  rate_limited: ['temporarily_unavailable'],
  unavailable: ['temporarily_unavailable'],
}

type StandardError = { readonly name: string; readonly status: number }

/** The name and status of each error on a path of the standard wire format; null on every other path. */
export const standardErrorsOf = (path: string): ((code: ErrorCode) => StandardError) | null => {
  if (formPaths.includes(path)) return clientErrorOf
  return bearerPaths.includes(path) ? bearerErrorOf : null
}

/** RFC 6750 section 3.1, of a call with a bearer token: whatever is forbidden needs more than the token has. */
const bearerErrorOf = (code: ErrorCode): StandardError => {
  const status = statusOf(code)
  if (status === 401) return { name: 'invalid_token', status }
  return status === 403 ? { name: 'insufficient_scope', status } : { ...clientErrorOf(code), status }
}

/** RFC 6749 section 5.2, of a call with the credentials of a client. */
const clientErrorOf = (code: ErrorCode): StandardError => {
  const usual = statusOf(code)
  const [name = usual >= 500 ? 'server_error' : 'invalid_request', status = usual] = named[code] ?? []
  return { name, status }
}
