/** What an app keeps to itself, and what it shows of it (RFC 7636). */
export type Pkce = { readonly codeVerifier: string; readonly codeChallenge: string }

/** A fresh verifier of 256 random bits, and its challenge. */
export const createPkce = async (): Promise<Pkce> => {
  const codeVerifier = randomText(32)
  return { codeVerifier, codeChallenge: await challengeOf(codeVerifier) }
}

/** The S256 challenge of a verifier (RFC 7636 section 4.2). */
export const challengeOf = async (codeVerifier: string): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))))

/** That many bytes of chance, in base64url. */
export const randomText = (bytes: number): string => base64url(crypto.getRandomValues(new Uint8Array(bytes)))

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
