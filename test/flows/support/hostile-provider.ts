import { createHash } from 'node:crypto'

type Claims = Record<string, unknown>
type SigningKey = { readonly kid: string; readonly pair: CryptoKeyPair }

/** What the provider does wrong; nothing by default. */
export type Tricks = {
  /** The claims of the ID token, made of the right ones. */
  readonly claims?: (right: Claims) => Claims
  /** The ID token, made of its claims. */
  readonly sign?: (claims: Claims) => Promise<string>
  readonly metadata?: Claims
  /** What it says at its userinfo endpoint. */
  readonly userInfo?: Claims
  /** How far its clock is ahead; below zero, behind. */
  readonly clockSeconds?: number
  /** The answers of its endpoints, by their path, instead of the right ones. */
  readonly answers?: Readonly<Record<string, () => Response | Promise<Response>>>
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const

const newKey = async (kid: string): Promise<SigningKey> => ({
  kid,
  pair: await crypto.subtle.generateKey(
    { ...algorithm, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
    true,
    ['sign', 'verify'],
  ),
})

/** An ID token with this header, signed by the key or with an empty signature. */
export const idToken = async (header: object, claims: Claims, key: CryptoKey | null): Promise<string> => {
  const input = `${encoded(header)}.${encoded(claims)}`
  if (key === null) return `${input}.`
  const signature = await crypto.subtle.sign(key.algorithm.name, key, Buffer.from(input))
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}

/** An OpenID Connect provider that can be told to cheat. A code is the number of a request that it was sent. */
export const startHostileProvider = async (path = '') => {
  let key = await newKey('first')
  let tricks: Tricks = {}
  const asked: URLSearchParams[] = []
  const credentials: string[] = []
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: async (request) => await answer(request) })
  const origin = `http://localhost:${server.port}`
  const issuer = origin + path

  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const answered = await tricks.answers?.[pathname]?.()
    if (answered !== undefined) return answered
    if (pathname === `${path.replace(/\/$/, '')}/.well-known/openid-configuration`)
      return Response.json({ ...metadata(), ...tricks.metadata })
    if (pathname === '/jwks') {
      const jwk = await crypto.subtle.exportKey('jwk', key.pair.publicKey)
      return Response.json({ keys: [{ ...jwk, kid: key.kid, alg: 'RS256', use: 'sig' }] })
    }
    if (pathname === '/userinfo' && tricks.userInfo !== undefined) return Response.json(tricks.userInfo)
    if (pathname !== '/token') return new Response(null, { status: 404 })
    const form = new URLSearchParams(await request.text())
    credentials.push(request.headers.get('authorization') ?? form.get('client_secret') ?? '')
    const begun = asked[Number(form.get('code'))]
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (begun?.get('code_challenge') !== challenge) return Response.json({ error: 'invalid_grant' }, { status: 400 })
    const now = Math.floor(Date.now() / 1000) + (tricks.clockSeconds ?? 0)
    const right = { iss: issuer, aud: 'platform', iat: now, exp: now + 60, nonce: begun.get('nonce') }
    const claims = tricks.claims?.(right) ?? right
    return Response.json({ access_token: 'x', token_type: 'Bearer', id_token: await (tricks.sign ?? sign)(claims) })
  }

  /** An ID token as the provider signs it. */
  const sign = async (claims: Claims): Promise<string> =>
    await idToken({ alg: 'RS256', kid: key.kid }, claims, key.pair.privateKey)

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    userinfo_endpoint: `${origin}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  })

  return {
    issuer,
    /** How its client has proved who it is, latest last: the header of HTTP Basic, or the secret in the form. */
    credentials,
    /** What it was asked with, latest last. */
    asked,
    /** What comes back with a browser that was sent to this address. */
    agree: (address: string): Record<string, string> => {
      const { searchParams } = new URL(address)
      asked.push(searchParams)
      return {
        code: String(asked.length - 1),
        state: searchParams.get('state') ?? '',
        iss: String({ ...metadata(), ...tricks.metadata }.issuer),
      }
    },
    cheat: (next: Tricks): void => {
      tricks = next
    },
    rotate: async (): Promise<void> => {
      key = await newKey('second')
    },
    sign,
    publicKey: async () => await crypto.subtle.exportKey('spki', key.pair.publicKey),
    stop: async () => await server.stop(true),
  }
}
