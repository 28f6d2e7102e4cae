import type { ErrorCode, PlatformError } from '../domain/errors.ts'
import type { RefusalPage } from './envelope.ts'
import { formPaths } from './paths.ts'

/** Error codes of RFC 6749 section 5.2, and those of section 4.1.2.1 for cases that it leaves open. */
type StandardError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable'

/** Messages that speak of JSON or of the contract's names are replaced here. */
const descriptions: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_json: 'The form is not properly encoded.',
  unsupported_media_type: 'The body must be application/x-www-form-urlencoded, in UTF-8.',
  unsupported_grant_type: 'The grant type must be authorization_code, refresh_token or client_credentials.',
}

/** RFC 6749 section 5.2 and RFC 9110 section 15.5.2: every 401 says how to authenticate. */
const challenge = 'Basic realm="app-platform", charset="UTF-8"'

/** The Retry-After of a refusal that names none. */
const patienceSeconds = 1

/** A refusal in the format of the RFCs, on the paths that clients send forms to; null everywhere else. */
export const standardRefusal: RefusalPage = (error, call) => {
  if (!formPaths.includes(call.path)) return null
  call.notes.errorCode = error.code
  const status = statusOf(error)
  const headers: Record<string, string> = { 'content-type': 'application/json', pragma: 'no-cache' }
  if (status === 401) headers['www-authenticate'] = challenge
  if (status === 429 || status === 503) headers['retry-after'] = waitOf(error)
  const description = descriptions[error.code] ?? error.message
  return new Response(JSON.stringify({ error: nameOf(error), error_description: description }), { status, headers })
}

const nameOf = ({ code, status }: PlatformError): StandardError => {
  switch (code) {
    case 'invalid_client':
    case 'invalid_grant':
    case 'invalid_scope':
    case 'unsupported_grant_type':
      return code
    case 'scope_not_allowed':
    case 'scope_not_available':
      return 'invalid_scope'
    case 'app_inactive':
      return 'unauthorized_client'
    case 'token_not_owned':
      return 'invalid_grant' // "was issued to another client" (RFC 7009 section 2.1, RFC 6749 section 5.2)
    case 'rate_limited':
    case 'unavailable':
      return 'temporarily_unavailable'
    default:
      return status >= 500 ? 'server_error' : 'invalid_request'
  }
}

/** RFC 6749 section 5.2 prescribes 400 for its errors except `invalid_client`; all others keep their status. */
const statusOf = (error: PlatformError): number => {
  const name = nameOf(error)
  switch (name) {
    case 'invalid_grant':
    case 'invalid_scope':
    case 'unauthorized_client':
    case 'unsupported_grant_type':
      return 400
    case 'invalid_client':
    case 'invalid_request':
    case 'server_error':
    case 'temporarily_unavailable':
      return error.status
    default:
      return name satisfies never
  }
}

const waitOf = ({ facts }: PlatformError): string =>
  String(Math.max(1, Math.ceil(facts.retryAfterSeconds ?? patienceSeconds)))
