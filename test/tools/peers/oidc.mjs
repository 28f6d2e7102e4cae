import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Provider } from 'oidc-provider'
import { openPostgres } from './oidc-postgres.mjs'
import { openSqlite } from './oidc-sqlite.mjs'

/*
 * panva's oidc-provider, configured by its documentation for the same work as the platform's: confidential client, PKCE
 * required, opaque tokens, rotation at every refresh. The client is a static one, which is read from no database.
 */

export const scopes = 'openid profile email offline_access'
/** Without `openid` no ID token is signed, which the platform does not do either. */
export const plainScopes = 'profile email offline_access'
export const appScopes = 'site:read store:read'

export const openProvider = async (folder, synchronous, isFilling) => {
  const { client, cookieKey, jwk } = secretsOf(folder)
  const url = process.env.DATABASE_URL
  const store =
    url === undefined
      ? openSqlite(join(folder, 'oidc.db'), isFilling ? 'OFF' : synchronous)
      : await openPostgres(url, isFilling)
  const provider = new Provider('http://localhost', {
    adapter: store.adapter,
    clients: [client],
    scopes: [...scopes.split(' '), ...appScopes.split(' ')],
    claims: { profile: ['name'], email: ['email'] },
    cookies: { keys: [cookieKey] },
    jwks: { keys: [jwk] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
    },
    findAccount: async (_, id) => {
      const row = await store.account(id)
      return row === undefined ? undefined : { accountId: id, claims: () => ({ sub: id, ...row }) }
    },
    rotateRefreshToken: true,
    ttl: { AccessToken: 3600, AuthorizationCode: 600, ClientCredentials: 3600, Grant: 2592000, RefreshToken: 2592000 },
  })
  return { provider, store, client }
}

const random = () => randomBytes(32).toString('base64url')

/** Made once for a folder, as an operator would have them. */
const secretsOf = (folder) => {
  const file = join(folder, 'oidc.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const client = {
    client_id: random(),
    client_secret: random(),
    redirect_uris: ['https://app.example/callback'],
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_method: 'client_secret_post',
    scope: `${scopes} ${appScopes}`,
  }
  const secrets = { client, cookieKey: random(), jwk: { ...privateKey.export({ format: 'jwk' }), alg: 'RS256' } }
  writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
  return secrets
}
