import { type AuthorizationParameters, hasMalformed, textOf } from './authorization-parameters.ts'
import { isCodeChallenge } from './pkce.ts'
import { type ErrorCode, messageOf } from './errors.ts'

/** What an app asks a user for, once its form has been checked. */
export type AuthorizationRequest = {
  readonly clientId: string
  readonly redirectUri: string
  readonly scope: string
  readonly state: string
  readonly codeChallenge: string
  readonly codeChallengeMethod: string
}

/** Longest state, in UTF-16 code units (contract section 3). */
const maximumStateLength = 2048

type Rule = readonly [
  error: AuthorizationError['error'],
  description: string,
  isBroken: (parameters: AuthorizationParameters) => boolean,
]

/** In order; the first broken rule is told. Client and redirect URI have been verified before. */
const rules: readonly Rule[] = [
  ['invalid_request', 'A parameter was sent more than once or cannot be read.', hasMalformed],
  [
    'request_not_supported', // OpenID Connect Core section 6: ignoring it would obey another request
    'The request parameter is not supported.',
    ({ request }) => textOf(request) !== null,
  ],
  [
    'request_uri_not_supported',
    'The request_uri parameter is not supported.',
    ({ request_uri: uri }) => textOf(uri) !== null,
  ],
  [
    'invalid_request',
    'The response_mode must be query.',
    ({ response_mode: mode }) => ![null, 'query'].includes(textOf(mode)),
  ],
  ['invalid_request', 'The response_type is missing.', ({ response_type: type }) => textOf(type) === null],
  [
    'unsupported_response_type',
    'The response_type must be code.',
    ({ response_type: type }) => textOf(type) !== 'code',
  ],
  [
    'invalid_request',
    'The state is missing or longer than 2048 characters.',
    (parameters) => stateOf(parameters) === null,
  ],
  [
    'invalid_request', // RFC 7636 section 4.4.1
    'The code_challenge must be 43 base64url characters that stand for a SHA-256.',
    ({ code_challenge: challenge }) => !isCodeChallenge(textOf(challenge) ?? ''),
  ],
  [
    'invalid_request', // a missing one means plain, by RFC 7636 section 4.3
    'The code_challenge_method must be S256.',
    ({ code_challenge_method: method }) => textOf(method) !== 'S256',
  ],
  ['invalid_scope', 'The scope is missing.', ({ scope }) => textOf(scope) === null], // RFC 6749 section 3.3
  [
    'invalid_request', // OpenID Connect Core section 3.1.2.1
    'The prompt none stands alone.',
    ({ prompt }) => promptsOf(prompt).includes('none') && promptsOf(prompt).length > 1,
  ],
]

/** What is wrong with the form of a request, as the app is told it; null when nothing is. */
export const authorizationRequestFault = (parameters: AuthorizationParameters): AuthorizationError | null => {
  const broken = rules.find(([, , isBroken]) => isBroken(parameters))
  return broken === undefined ? null : { error: broken[0], description: broken[1] }
}

/** The state, when it is one that can be given back; else null. */
export const stateOf = ({ state }: AuthorizationParameters): string | null => {
  const text = textOf(state)
  return text !== null && text.length <= maximumStateLength ? text : null
}

/** Whether nobody may be asked anything (`prompt=none`). */
export const isSilent = ({ prompt }: AuthorizationParameters): boolean => promptsOf(prompt).includes('none')

/** The request of parameters that have no fault. */
export const authorizationRequestOf = (parameters: AuthorizationParameters): AuthorizationRequest => ({
  clientId: textOf(parameters.client_id) ?? '',
  redirectUri: textOf(parameters.redirect_uri) ?? '',
  scope: textOf(parameters.scope) ?? '',
  state: stateOf(parameters) ?? '',
  codeChallenge: textOf(parameters.code_challenge) ?? '',
  codeChallengeMethod: textOf(parameters.code_challenge_method) ?? '',
})

/** The query that asks the same, with nothing in it that was ignored; all of it is ASCII. */
export const authorizationQueryOf = (request: AuthorizationRequest): string =>
  new URLSearchParams({
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scope,
    state: request.state,
    code_challenge: request.codeChallenge,
    code_challenge_method: request.codeChallengeMethod,
  }).toString()

const promptsOf = (prompt: AuthorizationParameters['prompt']): readonly string[] =>
  (textOf(prompt) ?? '').split(' ').filter((name) => name !== '')

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
