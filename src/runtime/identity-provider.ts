import type { Configuration } from 'openid-client'

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
}

/** What the browser keeps between leaving and coming back. */
export type LoginChecks = { readonly state: string; readonly nonce: string; readonly verifier: string }

/** An OpenID Connect provider (authorization code, PKCE, state, nonce, `iss`). */
export type IdentityProvider = {
  /** Where to send the browser. With `again` the provider must ask the person also if it knows them. @throws ProviderUnreachable */
  begin(
    redirectUri: string,
    nonce: string,
    again: boolean,
  ): Promise<{ readonly url: string; readonly checks: LoginChecks }>
  /** Who came back to this address. @throws ProviderUnreachable, ProviderRefused */
  finish(address: URL, checks: LoginChecks): Promise<Claims>
  /** Where the person signs out there, too; null if the provider has no such page. */
  endSessionUrl(returnTo: string): Promise<string | null>
}

/** The provider did not answer, or not as a provider does. */
export class ProviderUnreachable extends Error {}
/** It answered that the person is not signed in, or its answer is not valid for this browser. */
export class ProviderRefused extends Error {}

/** Loaded when somebody signs in: no other work needs it. */
const library = async () => await import('openid-client')

type ProviderOptions = { readonly issuer: string; readonly clientId: string; readonly clientSecret: string }

/** How long the metadata of the provider are used; keys are fetched again whenever an unknown one signs. */
const metadataMs = 10 * 60_000
const patienceSeconds = 10

export const createIdentityProvider = ({ issuer, clientId, clientSecret }: ProviderOptions): IdentityProvider => {
  let known: { readonly configuration: Configuration; readonly until: number } | null = null
  let asking: Promise<Configuration> | null = null

  /** Everybody who comes meanwhile waits for the same answer. */
  const discover = async (): Promise<Configuration> => {
    if (known !== null && performance.now() < known.until) return known.configuration
    asking ??= askProvider().finally(() => void (asking = null))
    return await asking
  }

  const askProvider = async (): Promise<Configuration> => {
    const client = await library()
    const server = new URL(issuer)
    // The library checks the signature of an ID token only when told to: it came over TLS from the provider itself. Plain HTTP is
    // for a provider on this machine.
    const execute = [client.enableNonRepudiationChecks]
    if (server.protocol === 'http:') execute.push(client.allowInsecureRequests)
    try {
      const configuration = await client.discovery(server, clientId, clientSecret, undefined, {
        execute,
        timeout: patienceSeconds,
      })
      known = { configuration, until: performance.now() + metadataMs }
      return configuration
    } catch (cause) {
      throw new ProviderUnreachable('The identity provider cannot be reached.', { cause })
    }
  }

  return {
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
        ...(again ? { max_age: '0' } : {}),
      })
      return { url: url.href, checks }
    },
    finish: async (address, { state, nonce, verifier }) => {
      const client = await library()
      const configuration = await discover()
      const tokens = await client
        .authorizationCodeGrant(configuration, address, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        .catch((cause: unknown) => {
          // Its keys may have changed. A code or an answer that it refuses says nothing about that.
          const isRefusal =
            cause instanceof client.ResponseBodyError || cause instanceof client.AuthorizationResponseError
          if (!isRefusal) known = null
          if (cause instanceof TypeError)
            throw new ProviderUnreachable('The identity provider did not answer.', { cause })
          throw new ProviderRefused('The answer of the identity provider is not valid.', { cause })
        })
      const claims = tokens.claims()
      if (claims === undefined) throw new ProviderRefused('The identity provider gave no ID token.')
      // An address and whether it is verified must come from the same place.
      const said =
        claims['email'] === undefined ? await asked(configuration, tokens.access_token, claims.sub) : { ...claims }
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: textOf(said['email']),
        isEmailVerified: said['email_verified'] === true,
        name: textOf(claims['name']) ?? textOf(said['name']) ?? textOf(said['preferred_username']),
        acr: textOf(claims['acr']),
        askedAt: typeof claims.auth_time === 'number' ? claims.auth_time * 1000 : null,
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

/** Providers may leave the address out of the ID token and tell it at their userinfo endpoint. */
const asked = async (
  configuration: Configuration,
  accessToken: string,
  subject: string,
): Promise<Readonly<Record<string, unknown>>> =>
  configuration.serverMetadata().userinfo_endpoint === undefined
    ? {}
    : await (await library()).fetchUserInfo(configuration, accessToken, subject).catch(() => ({}))

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
