import { messageOf, type PlatformError } from './errors.ts'
import { isCodeChallenge } from './pkce.ts'
import { isWellFormedText } from './text.ts'

/**
 * The parameters that are read: RFC 6749 section 4.1.1, RFC 7636 section 4.3, and those of OpenID Connect Core sections
 * 3.1.2.1 and 6 and RFC 8707 that a client might expect to be obeyed. All others are ignored.
 */
const parameterNames = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'request',
  'request_uri',
  'resource',
] as const
type ParameterName = (typeof parameterNames)[number]

export type AuthorizationParameters = ReturnType<typeof readAuthorizationParameters>

/** Reads `application/x-www-form-urlencoded` text, a query or a form's body. Undecodable bytes are never repaired. */
export const readAuthorizationParameters = (query: string) => {
  const sent = new Map<ParameterName, (string | null)[]>()
  for (const pair of query.split('&')) {
    const [encodedName = '', ...value] = pair.split('=')
    const name = decode(encodedName)
    if (name === null || !isParameterName(name)) continue
    const texts = sent.get(name)
    if (texts === undefined) sent.set(name, [decode(value.join('='))])
    else texts.push(decode(value.join('=')))
  }
  return {
    /** Whether any parameter is unreadable, or was sent twice and may not be. */
    hasMalformed: [...sent].some(([name, texts]) => texts.includes(null) || (texts.length > 1 && !mayRepeat(name))),
    /** The text of a parameter that was sent once, is readable and not empty; else null (RFC 6749 section 3.1). */
    text: (name: ParameterName): string | null => {
      const [text, ...more] = sent.get(name) ?? []
      return more.length === 0 ? text || null : null
    },
    /** What the tokens are to be for (RFC 8707 section 2); nothing without a wish. */
    resources: (sent.get('resource') ?? []).filter((text) => text !== ''),
  }
}

/** Whether a request may have it more than once (RFC 8707 section 2). */
export const mayRepeat = (name: string): boolean => name === 'resource'

const isParameterName = (name: string): name is ParameterName => parameterNames.some((known) => known === name)

const decode = (encoded: string): string | null => {
  try {
    const text = decodeURIComponent(encoded.replaceAll('+', ' '))
    return isWellFormedText(text) ? text : null
  } catch {
    return null // a broken escape, or bytes that are not UTF-8
  }
}

/** An authorization request whose form has been checked. */
export type AuthorizationRequest = Readonly<ReturnType<typeof authorizationRequestOf>>

/** Longest state, in UTF-16 code units (contract section 3). */
const maximumStateLength = 2048

type Rule = readonly [
  error: AuthorizationError['error'],
  description: string,
  isBroken: (parameters: AuthorizationParameters, resource: string) => boolean,
]

/** In order; the first broken rule is reported. Client and redirect URI have been verified before. */
const rules: readonly Rule[] = [
  ['invalid_request', 'A parameter was sent more than once or cannot be read.', ({ hasMalformed }) => hasMalformed],
  // OpenID Connect Core section 6: to ignore these two would be to obey another request.
  ['request_not_supported', 'The request parameter is not supported.', ({ text }) => text('request') !== null],
  [
    'request_uri_not_supported',
    'The request_uri parameter is not supported.',
    ({ text }) => text('request_uri') !== null,
  ],
  [
    'invalid_request',
    'The response_mode must be query.',
    ({ text }) => ![null, 'query'].includes(text('response_mode')),
  ],
  ['invalid_request', 'The response_type is missing.', ({ text }) => text('response_type') === null],
  ['unsupported_response_type', 'The response_type must be code.', ({ text }) => text('response_type') !== 'code'],
  // It may be missing: PKCE binds the answer to its request (RFC 9700 section 2.1).
  [
    'invalid_request',
    'The state is longer than 2048 characters.',
    (asked) => asked.text('state') !== null && stateOf(asked) === null,
  ],
  [
    'invalid_request', // RFC 7636 section 4.4.1
    'The code_challenge is missing: PKCE (RFC 7636) with S256 is required.',
    ({ text }) => text('code_challenge') === null,
  ],
  [
    'invalid_request',
    'The code_challenge must be 43 base64url characters that stand for a SHA-256.',
    ({ text }) => !isCodeChallenge(text('code_challenge') ?? ''),
  ],
  [
    'invalid_request', // a missing one means plain, by RFC 7636 section 4.3
    'The code_challenge_method must be S256.',
    ({ text }) => text('code_challenge_method') !== 'S256',
  ],
  [
    'invalid_target', // RFC 8707 section 2
    messageOf('invalid_target'),
    ({ resources }, resource) => resources.some((each) => each !== resource),
  ],
  ['invalid_scope', 'The scope is missing.', ({ text }) => text('scope') === null], // RFC 6749 section 3.3
  [
    'invalid_request', // OpenID Connect Core section 3.1.2.1
    'The prompt none stands alone.',
    (asked) => isSilent(asked) && promptsOf(asked).length > 1,
  ],
]

/** The fault of a request's form, as the app receives it; null if there is none. `resource` is the only one that tokens are for. */
export const authorizationRequestFault = (
  parameters: AuthorizationParameters,
  resource: string,
): AuthorizationError | null => {
  const broken = rules.find(([, , isBroken]) => isBroken(parameters, resource))
  return broken === undefined ? null : { error: broken[0], description: broken[1] }
}

/** The state, if it is one that can be given back; else null. */
export const stateOf = ({ text }: AuthorizationParameters): string | null => {
  const state = text('state')
  return state !== null && state.length <= maximumStateLength ? state : null
}

/** The state as a parameter of the answer: exactly as it was sent, or not at all. */
export const answeredState = (state: string | null): { readonly state?: string } =>
  state === null || state === '' ? {} : { state }

/** Whether no page may be shown (`prompt=none`). */
export const isSilent = (parameters: AuthorizationParameters): boolean => promptsOf(parameters).includes('none')

const promptsOf = ({ text }: AuthorizationParameters): readonly string[] =>
  (text('prompt') ?? '').split(' ').filter((name) => name !== '')

/** The request of parameters that have no fault. */
export const authorizationRequestOf = (parameters: AuthorizationParameters) => ({
  clientId: parameters.text('client_id') ?? '',
  redirectUri: parameters.text('redirect_uri') ?? '',
  scope: parameters.text('scope') ?? '',
  /** Empty if there is none. */
  state: stateOf(parameters) ?? '',
  codeChallenge: parameters.text('code_challenge') ?? '',
  codeChallengeMethod: parameters.text('code_challenge_method') ?? '',
})

/** The query of the same request, without the ignored parameters; all of it is ASCII. */
export const authorizationQueryOf = (request: AuthorizationRequest): string =>
  new URLSearchParams({
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scope,
    ...answeredState(request.state),
    code_challenge: request.codeChallenge,
    code_challenge_method: request.codeChallengeMethod,
  }).toString()

/** Errors that the redirect URI of an authorization request can receive. */
type AuthorizationErrorCode =
  | 'invalid_request' // RFC 6749 section 4.1.2.1, down to access_denied
  | 'unauthorized_client'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target' // RFC 8707 section 2
  | 'access_denied'
  | 'login_required' // OpenID Connect Core section 3.1.2.6, from here on
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'

/** An error as the app receives it. The description is that of the refusal. */
export type AuthorizationError = { readonly error: AuthorizationErrorCode; readonly description: string }

/** The app's answer when the user refuses. */
export const accessDenied: AuthorizationError = {
  error: 'access_denied',
  description: 'The user did not allow the access.',
}

/** A refusal as the app receives it; null when it must not reach the redirect URI. */
export const authorizationErrorOf = ({ code, message: description }: PlatformError): AuthorizationError | null => {
  switch (code) {
    case 'unsupported_code_challenge_method': // RFC 7636 section 4.4.1
    case 'invalid_request':
      return { error: 'invalid_request', description }
    case 'invalid_scope':
    case 'scope_not_available':
    case 'scope_not_allowed':
      return { error: 'invalid_scope', description }
    case 'app_inactive':
      return { error: 'unauthorized_client', description }
    default:
      return null
  }
}
