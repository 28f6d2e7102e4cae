import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { jwt } from 'better-auth/plugins'
import pg from 'pg'

/*
 * better-auth with its OAuth provider, configured by its documentation for the same work as the platform's: confidential
 * client, PKCE, opaque tokens, rotation at every refresh, its rate limit off. The client is one of those that it is told
 * to keep in memory.
 */

export const scopes = 'openid profile email offline_access'
/** Without `openid` no ID token is signed, which the platform does not do either. */
export const plainScopes = 'profile email offline_access'
export const appScopes = ['site:read', 'store:read']
const owner = { email: 'owner@example.com' }

export const openAuth = async (folder, synchronous = 'FULL') => {
  const url = process.env.DATABASE_URL
  const database = url === undefined ? openSqlite(folder, synchronous) : new pg.Pool({ connectionString: url, max: 20 })
  const file = join(folder, 'better-auth.json')
  const kept = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { secret: randomBytes(32).toString('base64') }
  const options = {
    baseURL: 'http://localhost',
    secret: kept.secret,
    database,
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    disabledPaths: ['/token'],
    plugins: [
      jwt(),
      oauthProvider({
        loginPage: '/sign-in',
        consentPage: '/consent',
        scopes: [...scopes.split(' '), ...appScopes],
        clientPrivileges: ({ user }) => user?.email === owner.email,
        silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
        ...(kept.client === undefined ? {} : { cachedTrustedClients: new Set([kept.client.id]) }),
      }),
    ],
  }
  if (kept.client !== undefined) return { auth: betterAuth(options), database, client: kept.client }
  await (await getMigrations(options)).runMigrations()
  const auth = betterAuth(options)
  const client = await register(auth)
  writeFileSync(file, JSON.stringify({ ...kept, client }), { mode: 0o600 })
  return { auth, database, client }
}

/** As durable as the platform: WAL, and every commit is synced before it is answered (unless the benchmark asks otherwise). */
const openSqlite = (folder, synchronous) => {
  const database = new Database(join(folder, 'better-auth.db'))
  database.run('PRAGMA busy_timeout = 5000')
  database.run('PRAGMA journal_mode = WAL')
  database.run(`PRAGMA synchronous = ${synchronous}`)
  return database
}

/** By its API, signed in as the user who may. */
const register = async (auth) => {
  const body = { ...owner, name: 'Owner', password: randomBytes(16).toString('hex') }
  const signedUp = await auth.api.signUpEmail({ body, asResponse: true })
  const cookie = signedUp.headers.getSetCookie().map((line) => line.split(';')[0])
  const made = await auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie: cookie.join('; ') }),
    body: {
      client_name: 'Newsletter',
      redirect_uris: ['https://app.example/callback'],
      scope: scopes,
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      client_credentials_scopes: appScopes,
      token_endpoint_auth_method: 'client_secret_post',
    },
  })
  return { id: made.client_id, secret: made.client_secret, redirectUri: made.redirect_uris[0] }
}
