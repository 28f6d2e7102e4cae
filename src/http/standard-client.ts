/** How clients of the standard wire format send parameters and credentials (RFC 6749). */
import { mayRepeat } from '../domain/authorization-request.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'
import type { ClientCredentials } from '../operations/authenticate-client.ts'
import { hashSecret, sameHash } from '../domain/secret.ts'
import type { Call } from './call.ts'
import { readForm } from './strict-body.ts'

const clientNames = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'] as const
const tokenNames = [
  'grant_type',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
  'resource',
] as const
const subjectNames = ['token', 'token_type_hint'] as const
/** The parameters that are used here; every other one that comes once is ignored (RFC 6749 section 3.2). */
const names = [...clientNames, ...tokenNames, ...subjectNames] as const

export type ParameterName = (typeof names)[number]
export type Parameters = {
  /** The value of a parameter; null if it is missing or empty, which is the same (RFC 6749 section 3.2). */
  (name: Exclude<ParameterName, 'resource'>): string | null
  /** What the tokens are to be for (RFC 8707 section 2); nothing without a wish. */
  readonly resources: readonly string[]
}

/**
 * The parameters of a request, from its form alone: credentials in a URL end up in logs along the way (RFC 6749 section
 * 2.3.1).
 * @throws invalid_request also for a parameter that comes more than once and may not (RFC 6749 section 3.2); payload_too_large
 */
export const readParameters = async (call: Call): Promise<Parameters> => {
  refuseQuery(call.request)
  const form = await readForm(call)
  const repeated = [...form].find(([name, values]) => values.length > 1 && !mayRepeat(name))?.[0]
  if (repeated !== undefined) throw fault(names.find((name) => name === repeated) ?? null, 'came more than once')
  const resources = (form.get('resource') ?? []).filter((text) => text !== '')
  return Object.assign((name: ParameterName) => form.get(name)?.[0] || null, { resources })
}

/** The value of a required parameter. @throws invalid_request */
export const needed = (parameters: Parameters, name: Exclude<ParameterName, 'resource'>): string => {
  const value = parameters(name)
  if (value === null) throw fault(name, 'is missing')
  return value
}

const refuseQuery = ({ url }: Request): void => {
  const start = url.indexOf('?')
  if (start === -1) return
  const query = new URLSearchParams(url.slice(start))
  const misplaced = names.find((name) => query.has(name))
  if (misplaced !== undefined) throw fault(misplaced, 'belongs in the body, never in the URL')
}

/** One that is not known is not named: it may be anything. */
const fault = (name: ParameterName | null, what: string): PlatformError =>
  name === null
    ? refuse('invalid_request', { message: `A parameter ${what}.` })
    : refuse('invalid_request', { param: name, message: `The parameter ${name} ${what}.` })

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Stands for an unreadable header: it is refused, counted and recorded like any wrong credentials. */
const unreadable: ClientCredentials = { clientId: '', clientSecret: '' }

/**
 * The credentials that a client presents, unchecked, by header (client_secret_basic) or form (client_secret_post). Both at once
 * are refused, and a client ID in the form must be that of the header (RFC 6749 section 2.3). With `takesBoth`, the same credentials
 * by both are taken as one: some libraries send them so when they revoke, and must not believe that a token has ended which has not.
 * @throws invalid_client if there are none; invalid_request
 */
export const clientOf = (
  { authorization }: Call,
  parameters: Parameters,
  { takesBoth = false }: { readonly takesBoth?: boolean } = {},
): ClientCredentials => {
  const clientId = parameters('client_id')
  const clientSecret = parameters('client_secret')
  if (authorization.kind === 'none') {
    if (clientId === null || clientSecret === null) throw refuse('invalid_client')
    if (hasAssertion(parameters)) throw severalMethods()
    return { clientId, clientSecret }
  }
  const client = authorization.kind === 'other' ? readBasicCredentials(authorization.header) : null
  const isRepeated =
    takesBoth && client !== null && clientSecret !== null && sameText(client.clientSecret, clientSecret)
  if ((clientSecret !== null && !isRepeated) || hasAssertion(parameters)) throw severalMethods()
  if (client !== null && clientId !== null && clientId !== client.clientId) throw otherClient()
  return client ?? unreadable
}

/** Client assertions (RFC 7523) are not supported. One together with a secret is a second method. */
const hasAssertion = (parameters: Parameters): boolean =>
  parameters('client_assertion') !== null || parameters('client_assertion_type') !== null

const severalMethods = (): PlatformError =>
  refuse('invalid_request', { message: 'The client authenticates by more than one method.' })

const otherClient = (): PlatformError =>
  refuse('invalid_request', { param: 'client_id', message: 'The parameter client_id names another client.' })

/**
 * The client of an `Authorization: Basic` header: base64 of `id:secret`, both halves form-encoded (RFC 6749 section 2.3.1,
 * RFC 7617). Null for another scheme and for a malformed header; nothing is repaired.
 */
export const readBasicCredentials = (header: string): ClientCredentials | null => {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1]
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return null
  try {
    const text = decoder.decode(bytes)
    const colon = text.indexOf(':')
    if (colon === -1) return null
    return { clientId: formDecoded(text.slice(0, colon)), clientSecret: formDecoded(text.slice(colon + 1)) }
  } catch {
    return null // not UTF-8, or a broken escape
  }
}

/** Compares without telling by the time how much is equal. */
const sameText = (a: string, b: string): boolean => sameHash(hashSecret(a), hashSecret(b))

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))
