import { AppPlatformError } from './app-platform-error.ts'
import { base64Of } from './base64.ts'

export type AuthorizationOptions = {
  /** Registered for the environment of the client, byte for byte. */
  readonly redirectUri: string
  /** Space-separated scope names. */
  readonly scope: string
  /** A value of the app's own that the callback carries back; by default 128 random bits. */
  readonly state?: string
}

/** Where to send the browser, and what to keep in the user's session until it comes back. */
export type StartedAuthorization = {
  readonly url: string
  readonly state: string
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** Creates a state, a verifier and the URL of the consent page (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
export const startAuthorization = async (
  issuer: string,
  clientId: string,
  { redirectUri, scope, state = randomText(16) }: AuthorizationOptions,
): Promise<StartedAuthorization> => {
  const { codeVerifier, codeChallenge } = await createPkce()
  const url = new URL('/oauth/authorize', issuer)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  }).toString()
  return { url: url.href, state, codeVerifier, redirectUri }
}

/**
 * The code in a callback. The state is checked first, then the issuer, and the rest is read only after that.
 * @param callback the URL that was called, or its query
 * @throws AppPlatformError state_mismatch, issuer_mismatch, malformed_callback, or the error that the platform sent,
 *   such as access_denied
 */
export const readCallback = (
  callback: string | URL | URLSearchParams,
  expected: { readonly state: string; readonly issuer: string },
): string => {
  const query = queryOf(callback)
  const only = (name: string): string | null => {
    const values = query.getAll(name)
    return values.length === 1 && values[0] !== '' ? (values[0] ?? null) : null
  }
  if (only('state') !== expected.state) {
    throw new AppPlatformError('state_mismatch', 'The state of the callback is not the one that was sent.')
  }
  // The platform always sends `iss`, so a callback of another server is never mistaken for its own.
  if (only('iss') !== expected.issuer) {
    throw new AppPlatformError('issuer_mismatch', 'The callback comes from another server.')
  }
  const code = only('code')
  const error = only('error')
  if (error !== null && !query.has('code')) {
    throw new AppPlatformError(error, only('error_description') ?? 'The authorization was refused.')
  }
  if (code === null || query.has('error')) {
    throw new AppPlatformError('malformed_callback', 'The callback has no code.')
  }
  return code
}

const queryOf = (callback: string | URL | URLSearchParams): URLSearchParams => {
  if (callback instanceof URLSearchParams) return callback
  if (callback instanceof URL) return callback.searchParams
  const start = callback.indexOf('?')
  return new URLSearchParams(callback.slice(start + 1).replace(/#.*$/s, ''))
}

/** The secret half and the public half of a PKCE pair (RFC 7636). */
export type Pkce = { readonly codeVerifier: string; readonly codeChallenge: string }

/** A new verifier of 256 random bits, and its challenge. */
export const createPkce = async (): Promise<Pkce> => {
  const codeVerifier = randomText(32)
  return { codeVerifier, codeChallenge: await challengeOf(codeVerifier) }
}

/** The S256 challenge of a verifier (RFC 7636 section 4.2). */
export const challengeOf = async (codeVerifier: string): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))))

/** So many random bytes, in base64url. */
const randomText = (bytes: number): string => base64url(crypto.getRandomValues(new Uint8Array(bytes)))

const base64url = (bytes: Uint8Array): string =>
  base64Of(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
