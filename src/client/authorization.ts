import { AppPlatformError } from './app-platform-error.ts'
import { createPkce, randomText } from './pkce.ts'

export type AuthorizationOptions = {
  /** Registered for the environment of the client, byte for byte. */
  readonly redirectUri: string
  /** Space-separated scope names. */
  readonly scope: string
  /** Something of the app's own to be told from when the user comes back; by default 128 random bits. */
  readonly state?: string
}

/** Where to send the browser, and what to keep in the user's session until it comes back. */
export type StartedAuthorization = {
  readonly url: string
  readonly state: string
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** Makes a state, a verifier and the URL of the consent page (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
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
 * The code that the browser brought back. The state is looked at first, then who sent the browser, and only then what it
 * brought.
 * @param callback the URL that was called, or its query
 * @throws AppPlatformError state_mismatch, issuer_mismatch, malformed_callback, or the error that the platform sent
 *   along, such as access_denied
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
    throw new AppPlatformError('state_mismatch', 'The browser came back with another state than it was sent with.')
  }
  // This platform always names itself, so that an answer of another server is never taken for its own.
  if (only('iss') !== expected.issuer) {
    throw new AppPlatformError('issuer_mismatch', 'The browser came back from another server.')
  }
  const code = only('code')
  const error = only('error')
  if (error !== null && !query.has('code')) {
    throw new AppPlatformError(error, only('error_description') ?? 'The authorization was refused.')
  }
  if (code === null || query.has('error')) {
    throw new AppPlatformError('malformed_callback', 'The browser came back without a code.')
  }
  return code
}

const queryOf = (callback: string | URL | URLSearchParams): URLSearchParams => {
  if (callback instanceof URLSearchParams) return callback
  if (callback instanceof URL) return callback.searchParams
  const start = callback.indexOf('?')
  return new URLSearchParams(callback.slice(start + 1).replace(/#.*$/s, ''))
}
