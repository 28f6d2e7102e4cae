import { type ErrorCode, messageOf } from './errors.ts'

/** Errors that an authorization request can be answered with at the redirect URI. */
type AuthorizationErrorCode =
  | 'invalid_request' // RFC 6749 section 4.1.2.1, down to access_denied
  | 'unauthorized_client'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'login_required' // OpenID Connect Core section 3.1.2.6, from here on
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'

/** An error as the app is told it; the description is a fixed sentence and never repeats what was asked. */
export type AuthorizationError = { readonly error: AuthorizationErrorCode; readonly description: string }

/** What a person who says no is told to the app as. */
export const accessDenied: AuthorizationError = {
  error: 'access_denied',
  description: 'The user did not allow the access.',
}

/** How the app is told of a refusal; null where the refusal is nothing for the redirect URI. */
export const authorizationErrorOf = (code: ErrorCode): AuthorizationError | null => {
  switch (code) {
    case 'unsupported_code_challenge_method': // RFC 7636 section 4.4.1
    case 'invalid_request':
      return { error: 'invalid_request', description: messageOf(code) }
    case 'invalid_scope':
    case 'scope_not_available':
    case 'scope_not_allowed':
      return { error: 'invalid_scope', description: messageOf(code) }
    case 'app_inactive':
      return { error: 'unauthorized_client', description: messageOf(code) }
    default:
      return null
  }
}
