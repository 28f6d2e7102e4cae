import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import {
  clockLeewayMs,
  clockLeewaySeconds,
  epochMs,
  errorCode,
  isEmailVerified,
  issuerKey,
  nameClaim,
  saysWhetherVerified,
  textClaim,
  foreignText,
} from '../domain/identity-claims.ts'
import { isForeignId } from '../domain/identifier.ts'
import {
  causeOfAnswer,
  causeOfRefusal,
  isPassing,
  type SignInCause,
  type SignInFault,
} from '../domain/sign-in-cause.ts'

/** What an identity provider says about a person. */
export type Claims = {
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  readonly isEmailVerified: boolean
  readonly name: string | null
  /** How it knows the person: the authentication context class (OpenID Connect Core section 2). */
  readonly acr: string | null
  /** When it last asked the person to sign in, in epoch milliseconds; null if it does not say. */
  readonly askedAt: number | null
  /** When it said all this, by its own clock, in epoch milliseconds. */
  readonly issuedAt: number
  /** Why it could not be asked for more than the ID token has; null if it could, or had not to be asked. */
  readonly missed: ProviderFault | null
}

/** What the browser keeps between leaving and coming back. */
export type LoginChecks = { readonly state: string; readonly nonce: string; readonly verifier: string }

/** How the provider is told to ask the person also if it knows them; null if it need not. */
type Again = 'auth_time' | 'prompt' | null

/** An OpenID Connect provider (authorization code, PKCE, state, nonce, `iss`). */
export type IdentityProvider = {
  /** Where to send the browser. @throws ProviderFault */
  begin(
    redirectUri: string,
    nonce: string,
    again: Again,
  ): Promise<{ readonly url: string; readonly checks: LoginChecks }>
  /** Who came back to this address. `again` is what the browser was sent with. @throws ProviderFault */
  finish(address: URL, checks: LoginChecks, again: Again): Promise<Claims>
  /** Where the person signs out there, too; null if the provider has no such page. */
  endSessionUrl(returnTo: string): Promise<string | null>
  /** Proves with this secret from now on who this client is. */
  useSecret(clientSecret: string): void
}

/** What the log has of an answer of the provider: its own words, cut. */
type ProviderWords = {
  readonly providerError?: string | null
  readonly description?: string | null
  readonly endpoint?: string
  readonly expected?: string
  readonly received?: string | null
}

/** The provider did not answer, not as a provider does, or that the person is not signed in. */
export class ProviderFault extends Error implements SignInFault {
  constructor(
    readonly kind: SignInCause,
    readonly words: ProviderWords = {},
    readonly code: string | null = null,
    cause?: unknown,
  ) {
    super(kind, { cause })
  }
}

/** Loaded when somebody signs in: no other work needs it. */
const library = async () => await import('openid-client')

type ProviderOptions = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** How the secret is sent; null: as the provider prefers. */
  readonly clientAuth: 'basic' | 'post' | null
  /** Whether addresses count as verified about which the provider says nothing. */
  readonly trustsEmail: boolean
}

/** How long the metadata of the provider are used; keys are fetched again whenever an unknown one signs. */
const metadataMs = 10 * 60_000
const defaultPatienceMs = 10_000
/** Longest answer of a provider. */
const longestAnswer = 512 * 1024

/** The options with which the provider is asked now, and what it has answered. */
type Asked = {
  readonly options: ProviderOptions
  known: { readonly configuration: Configuration; readonly until: number } | null
  asking: Promise<Configuration> | null
}

const notAsked = (options: ProviderOptions): Asked => ({ options, known: null, asking: null })

export const createIdentityProvider = (options: ProviderOptions, patienceMs = defaultPatienceMs): IdentityProvider => {
  const { clientId, trustsEmail } = options
  let current = notAsked(options)

  /** Everybody who comes meanwhile waits for the same answer. */
  const discover = async (): Promise<Configuration> => {
    const asked = current
    if (asked.known !== null && performance.now() < asked.known.until) return asked.known.configuration
    asked.asking ??= configure(asked.options, patienceMs).finally(() => void (asked.asking = null))
    const configuration = await asked.asking
    asked.known = { configuration, until: performance.now() + metadataMs }
    return configuration
  }

  return {
    useSecret: (clientSecret) => void (current = notAsked({ ...options, clientSecret })),
    begin: async (redirectUri, nonce, again) => {
      const client = await library()
      const configuration = await discover()
      const verifier = client.randomPKCECodeVerifier()
      const checks = { state: client.randomState(), nonce, verifier }
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: checks.state,
        nonce: checks.nonce,
        ...(again === null ? {} : { max_age: '0' }),
        ...(again === 'prompt' ? { prompt: 'login' } : {}),
      })
      return { url: url.href, checks }
    },
    finish: async (address, { state, nonce, verifier }, again) => {
      const refused = refusalIn(address, again)
      if (refused !== null) throw refused
      const client = await library()
      const configuration = await discover()
      const [expected, received] = [configuration.serverMetadata().issuer, address.searchParams.get('iss')]
      if (received !== null && received !== expected) throw otherIssuer(expected, received)
      const tokens = await client
        .authorizationCodeGrant(configuration, address, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        .catch((thrown: unknown) => {
          const fault = faultOf(thrown)
          // Its keys or its metadata may have changed. A refusal says nothing about that.
          if (fault.code === null) current.known = null
          throw fault
        })
      const claims = tokens.claims()
      if (claims === undefined) throw new ProviderFault('answer_invalid', { description: 'There is no ID token.' })
      // The library checks it only beside several audiences (OpenID Connect Core section 3.1.3.7).
      const { azp = null }: { readonly azp?: unknown } = claims
      if (azp !== null && azp !== clientId) {
        throw new ProviderFault('answer_invalid', { description: 'The ID token is for another client (azp).' })
      }
      if (!isForeignId('subject', claims.sub)) throw new ProviderFault('subject_invalid')
      const latest = Date.now() + clockLeewayMs
      const issuedAt = epochMs(claims.iat)
      const askedAt = claims.auth_time === undefined ? null : epochMs(claims.auth_time)
      const early = issuedAt > latest ? 'iat' : (askedAt ?? 0) > latest ? 'auth_time' : null
      if (early !== null) {
        throw new ProviderFault('clock_differs', { description: `The ${early} of the ID token is in the future.` })
      }
      const isEnough = claims['email'] !== undefined && (trustsEmail || saysWhetherVerified(claims))
      const told = isEnough ? {} : await asked(configuration, tokens.access_token, claims.sub)
      const further = told instanceof ProviderFault ? {} : told
      // An address and whether it is verified must come from the same place.
      const said = textClaim(further['email']) === null ? claims : further
      return {
        issuer: issuerKey(claims.iss) ?? claims.iss,
        subject: claims.sub,
        email: textClaim(said['email']),
        isEmailVerified: isEmailVerified(said, trustsEmail),
        name: nameClaim(claims) ?? nameClaim(further),
        acr: textClaim(claims['acr']),
        askedAt,
        issuedAt,
        missed: told instanceof ProviderFault ? told : null,
      }
    },
    endSessionUrl: async (returnTo) => {
      const configuration = await discover()
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null
      const client = await library()
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo, client_id: clientId }).href
    },
  }
}

/** The refusal that a browser brings; null if it brings a code. */
const refusalIn = ({ searchParams }: URL, again: Again): ProviderFault | null => {
  const error = searchParams.get('error')
  if (error === null) return null
  const words = { providerError: foreignText(error), description: foreignText(searchParams.get('error_description')) }
  const code = errorCode(error)
  return new ProviderFault(causeOfAnswer(code, again === 'prompt'), { ...words, endpoint: 'authorization' }, code)
}

const otherIssuer = (expected: string, received: unknown): ProviderFault =>
  new ProviderFault('issuer_differs', { expected, received: foreignText(received) })

const configure = async ({ issuer, clientId, clientSecret, clientAuth }: ProviderOptions, patienceMs: number) => {
  const client = await library()
  const place = new URL(issuer)
  place.pathname = `${place.pathname.replace(/\/$/, '')}/.well-known/openid-configuration`
  const ask = asker(patienceMs)
  const answer = await ask(place.href, { method: 'GET', headers: { accept: 'application/json' } })
  const metadata: unknown = await answer.json()
  const description = faultInMetadata(metadata, place.protocol)
  if (!isMetadata(metadata) || description !== null) {
    throw new ProviderFault('provider_broken', { endpoint: place.href, description })
  }
  if (issuerKey(metadata.issuer) !== issuerKey(issuer)) throw otherIssuer(issuer, metadata.issuer)
  const methods = metadata.token_endpoint_auth_methods_supported
  const others = optionalEndpoints.filter((name) => !isUsable(metadata[name], place.protocol))
  const isBasic = !Array.isArray(methods) || methods.length === 0 || methods.includes('client_secret_basic')
  const way = clientAuth ?? (isBasic ? 'basic' : 'post')
  const configuration = new client.Configuration(
    { ...metadata, ...Object.fromEntries(others.map((name) => [name, undefined])) },
    clientId,
    { [client.clockTolerance]: clockLeewaySeconds },
    way === 'basic' ? basicAuth(clientSecret) : client.ClientSecretPost(clientSecret),
  )
  const tokenEndpoint = new URL(String(metadata.token_endpoint)).href
  configuration[client.customFetch] = async (url, options) =>
    url === tokenEndpoint ? onlyTokens(await ask(url, options)) : await ask(url, options)
  // The library checks the signature of an ID token only when told to: it came over TLS from the provider itself. Plain HTTP is
  // for a provider on this machine.
  client.enableNonRepudiationChecks(configuration)
  if (place.protocol === 'http:') client.allowInsecureRequests(configuration)
  return configuration
}

/**
 * HTTP Basic with both parts encoded as in a form (RFC 6749 section 2.3.1). That of the library also encodes characters that a form
 * leaves as they are, and some providers do not decode.
 */
const basicAuth =
  (clientSecret: string): ClientAuth =>
  (_, { client_id }, __, headers) =>
    headers.set('authorization', `Basic ${btoa(`${formEncoded(client_id)}:${formEncoded(clientSecret)}`)}`)

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

/** What a sign-in cannot do without (OpenID Connect Discovery section 3). */
const neededEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** A provider without one of these does not have what it is for. Some leave them empty. */
const optionalEndpoints = ['userinfo_endpoint', 'end_session_endpoint'] as const
const longestAddress = 2_048

/** Whether it is an address that a provider asked with this protocol may name. */
const isUsable = (value: unknown, protocol: string): boolean => {
  const url = typeof value === 'string' && value.length <= longestAddress ? URL.parse(value) : null
  return url !== null && (url.protocol === 'https:' || url.protocol === protocol)
}

const isMetadata = (value: unknown): value is ServerMetadata => typeof recordOf(value)['issuer'] === 'string'

/** What is wrong with the metadata of a provider that is asked with this protocol; null if nothing is. */
const faultInMetadata = (metadata: unknown, protocol: string): string | null => {
  if (!isMetadata(metadata)) return 'The metadata have no issuer.'
  for (const name of neededEndpoints) {
    if (!isUsable(recordOf(metadata)[name], protocol)) return `The metadata have no usable ${name}.`
  }
  return null
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

/**
 * Asks the provider. Every answer is either a JSON object (or a signed one) of moderate length, or a fault that names the endpoint.
 * Redirects are not followed: they would carry the secret elsewhere.
 */
const asker =
  (patienceMs: number) =>
  async (url: string, options: Parameters<CustomFetch>[1] | RequestInit): Promise<Response> => {
    const { origin, pathname } = new URL(url)
    const endpoint = origin + pathname
    const { status, type, text } = await fetchAnswer(url, options, patienceMs).catch((cause: unknown) => {
      throw new ProviderFault('provider_unreachable', { endpoint }, null, cause)
    })
    const body = jsonIn(text ?? '')
    const { error, error_description: description } = body ?? {}
    if (status >= 400 && typeof error === 'string') {
      const code = errorCode(error)
      const words = { endpoint, providerError: foreignText(error), description: foreignText(description) }
      throw new ProviderFault(causeOfRefusal(code, status), words, code)
    }
    if (isPassing(status)) {
      throw new ProviderFault('provider_unreachable', { endpoint, description: `Status ${status}.` })
    }
    if (status === 200 && body !== null) return Response.json(withoutNulls(body))
    if (status === 200 && text !== null && type === 'application/jwt') {
      return new Response(text, { headers: { 'content-type': type } })
    }
    const what = text === null ? 'too long' : `of the type ${foreignText(type) ?? 'unknown'}, or not a JSON object`
    throw new ProviderFault('provider_broken', { endpoint, description: `Status ${status}. The answer is ${what}.` })
  }

/** What is read of an answer with tokens. The library would also check what nothing here uses, such as the lifetime of the access token. */
const onlyTokens = async (answer: Response): Promise<Response> => {
  const { access_token, token_type, id_token } = recordOf(await answer.json())
  return Response.json({ access_token, token_type, id_token })
}

/** Some providers write null for what they do not give, such as a refresh token, which the library would take for a wrong type. */
const withoutNulls = (body: object) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

/** `text` is null for a longer answer than a provider gives. */
const fetchAnswer = async (url: string, options: RequestInit, patienceMs: number) => {
  const response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(patienceMs) })
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    length += part.length
    if (length > longestAnswer) return { status: response.status, type, text: null }
  }
  return { status: response.status, type, text: new TextDecoder().decode(Buffer.concat(parts)) } // without a byte order mark
}

const jsonIn = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** What the library has found wrong. Its own errors lead to that of the check, whose cause has what was checked. */
const faultOf = (thrown: unknown): ProviderFault => {
  let found: unknown = thrown
  let code: unknown
  let description: string | null = null
  while (found instanceof Error) {
    if (found instanceof ProviderFault) return found
    if ('code' in found) {
      code = found.code
      description = foreignText(found.message) // which check failed, in words of the library, which have no values
    }
    found = found.cause
  }
  const { claims, claim, expected } = recordOf(found)
  const said = recordOf(claims)
  if (claim === 'iss' && typeof expected === 'string') return otherIssuer(expected, said['iss'])
  const kind =
    code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'
      ? 'clock_differs'
      : claims !== undefined && claim === undefined && !isForeignId('subject', said['sub'])
        ? 'subject_invalid'
        : 'answer_invalid'
  return new ProviderFault(kind, { description }, null, thrown)
}

/**
 * Providers may leave the address out of the ID token and tell it at their userinfo endpoint, or only there whether the address is
 * verified, as Okta does.
 */
const asked = async (
  configuration: Configuration,
  accessToken: string,
  subject: string,
): Promise<Readonly<Record<string, unknown>> | ProviderFault> =>
  configuration.serverMetadata().userinfo_endpoint === undefined
    ? {}
    : await (await library()).fetchUserInfo(configuration, accessToken, subject).catch(faultOf)
