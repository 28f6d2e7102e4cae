import { isWellFormedText } from './text.ts'

/**
 * The parameters that mean something here: RFC 6749 section 4.1.1, RFC 7636 section 4.3, and of OpenID Connect Core
 * sections 3.1.2.1 and 6 what a client could believe to have been obeyed. Every other one is ignored.
 */
const names = [
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
] as const
type ParameterName = (typeof names)[number]

/** A parameter as it came. Without a value it counts as missing (RFC 6749 section 3.1). */
type Parameter =
  | { readonly kind: 'given'; readonly text: string }
  | { readonly kind: 'missing' }
  /** More than once, or not readable as text. */
  | { readonly kind: 'malformed' }

export type AuthorizationParameters = Readonly<Record<ParameterName, Parameter>>

/** Reads a query, or a form's body, in `application/x-www-form-urlencoded`; undecodable bytes are never repaired. */
export const readAuthorizationParameters = (query: string): AuthorizationParameters => {
  const found = new Map<string, (string | null)[]>()
  for (const pair of query.split('&')) {
    const [name = '', ...value] = pair.split('=')
    const key = decode(name)
    if (key === null) continue
    const values = found.get(key)
    // Not a new list for each: one parameter sent ten thousand times would hold everybody up.
    if (values === undefined) found.set(key, [decode(value.join('='))])
    else values.push(decode(value.join('=')))
  }
  const parameter = (name: ParameterName) => parameterOf(found.get(name) ?? [])
  return {
    client_id: parameter('client_id'),
    redirect_uri: parameter('redirect_uri'),
    response_type: parameter('response_type'),
    response_mode: parameter('response_mode'),
    scope: parameter('scope'),
    state: parameter('state'),
    code_challenge: parameter('code_challenge'),
    code_challenge_method: parameter('code_challenge_method'),
    prompt: parameter('prompt'),
    request: parameter('request'),
    request_uri: parameter('request_uri'),
  }
}

/** The text of a parameter that came once and can be read; else null. */
export const textOf = (parameter: Parameter): string | null => (parameter.kind === 'given' ? parameter.text : null)

/** Whether any parameter came twice or cannot be read (RFC 6749 section 3.1). */
export const hasMalformed = (parameters: AuthorizationParameters): boolean =>
  names.some((name) => parameters[name].kind === 'malformed')

const parameterOf = (values: readonly (string | null)[]): Parameter => {
  const [text = ''] = values
  if (values.length > 1 || text === null) return { kind: 'malformed' }
  return text === '' ? { kind: 'missing' } : { kind: 'given', text }
}

const decode = (encoded: string): string | null => {
  try {
    const text = decodeURIComponent(encoded.replaceAll('+', ' '))
    return isWellFormedText(text) ? text : null
  } catch {
    return null // a broken escape, or bytes that are not UTF-8
  }
}
