import { challengeOf } from '../../src/domain/pkce.ts'
import { createApp } from '../../src/operations/apps/apps.ts'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { type Answer, bodyOf, call } from './call.ts'
import { openAsOperator, operator, trace } from './operator.ts'
import { type RunningServer, type ServerOptions, startServer } from './running-server.ts'

export const userScopes = 'profile:read profile.email:read site:read store:read'
export const appScopes = `${userScopes} site.content:write`

export type Credentials = { readonly clientId: string; readonly clientSecret: string }
export type Login = { readonly email: string; readonly password: string; readonly id: string }
export type AppInWorld = {
  readonly id: string
  readonly slug: string
  readonly development: Credentials
  readonly production: Credentials
  readonly redirectUri: string
  readonly liveRedirectUri: string
}

let counted = 0
export const fresh = (stem: string) => `${stem}-${(counted += 1)}`

/** A user with a password, a website and a store. */
export const addUser = async (platform: Platform, name = 'Ada Example'): Promise<Login> => {
  const email = `${fresh('user')}@example.com`
  const password = 'correct horse battery'
  const { id } = await createUser(platform, trace, operator, { email, name, password, isOperator: false })
  const now = platform.clock.now()
  for (const kind of ['site', 'store'] as const) {
    await platform.database.transaction(
      async (q) =>
        await q.resources.insert({
          id: fresh(`res-${id}`),
          ownerId: id,
          kind,
          name: `My ${kind}`,
          slug: `my-${kind}`,
          status: 'published',
          createdAt: now,
          updatedAt: now,
          publishedAt: now,
          externalId: null,
          deletedAt: null,
        }),
    )
  }
  return { email, password, id }
}

/** An app with one secret and one redirect URI per environment. */
export const addApp = async (platform: Platform, owner: Login, scopes = appScopes): Promise<AppInWorld> => {
  const slug = fresh('app')
  const app = await createApp(platform, trace, operator, { ownerEmail: owner.email, name: 'Newsletter', slug, scopes })
  const secretIn = async (environment: 'development' | 'production') => {
    const { clientId, clientSecret } = await createCredential(platform, trace, operator, {
      slug,
      environment,
      label: null,
    })
    return { clientId, clientSecret }
  }
  const redirectUri = `https://${slug}.example/dev/callback`
  const liveRedirectUri = `https://${slug}.example/callback`
  await addRedirectUri(platform, trace, operator, { slug, environment: 'development', uri: redirectUri })
  await addRedirectUri(platform, trace, operator, { slug, environment: 'production', uri: liveRedirectUri })
  return {
    id: app.id,
    slug,
    development: await secretIn('development'),
    production: await secretIn('production'),
    redirectUri,
    liveRedirectUri,
  }
}

/** An approved, active install of the app on the user's website. */
export const installApp = async (platform: Platform, app: AppInWorld, user: Login): Promise<string> => {
  const { id } = await createInstall(platform, trace, operator, {
    slug: app.slug,
    userEmail: user.email,
    kind: 'site',
    resourceSlug: 'my-site',
  })
  await moveInstall(platform, trace, operator, { id, step: 'approve' })
  return id
}

/** A running server with one user, one app and one install, and the platform opened on the same file. */
export type World = {
  readonly server: RunningServer
  readonly platform: Platform
  readonly user: Login
  readonly app: AppInWorld
}

export const createWorld = async (options: ServerOptions = {}): Promise<World> => {
  const server = await startServer(options)
  const platform = await openAsOperator(server.database)
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  await installApp(platform, app, user)
  return { server, platform, user, app }
}

export const endWorld = async ({ server, platform }: World): Promise<void> => {
  await platform.database.close()
  await server.stop()
}

export const appToken = async (url: string, credentials: Credentials, scope = 'site:read'): Promise<string> =>
  bodyOf(await call(url, 'POST', '/token', { body: { ...credentials, scope } })).accessToken

export const signIn = async (url: string, { email, password }: Login): Promise<string> =>
  bodyOf(await call(url, 'POST', '~/api/session', { body: { email, password } })).sessionToken

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

export const authorizeBody = (app: AppInWorld, scope = userScopes) => ({
  clientId: app.development.clientId,
  redirectUri: app.redirectUri,
  scope,
  state: 'af0ifjsldkj',
  codeChallenge: challengeOf(verifier),
  codeChallengeMethod: 'S256',
  consent: true,
})

/** Consents as the signed-in user and returns the code. */
export const authorize = async (url: string, session: string, app: AppInWorld, scope = userScopes): Promise<string> =>
  bodyOf(await call(url, 'POST', '/oauth/authorize', { token: session, body: authorizeBody(app, scope) })).code

export const exchangeBody = (app: AppInWorld, code: string) => ({
  grantType: 'authorization_code',
  ...app.development,
  code,
  redirectUri: app.redirectUri,
  codeVerifier: verifier,
})
export const refreshBody = (app: AppInWorld, refreshToken: string) => ({
  grantType: 'refresh_token',
  ...app.development,
  refreshToken,
})

export type Tokens = { readonly accessToken: string; readonly refreshToken: string; readonly grantId: string }

export const exchange = async (url: string, app: AppInWorld, code: string): Promise<Answer> =>
  await call(url, 'POST', '/oauth/token', { body: exchangeBody(app, code) })
export const refresh = async (url: string, app: AppInWorld, refreshToken: string): Promise<Answer> =>
  await call(url, 'POST', '/oauth/token', { body: refreshBody(app, refreshToken) })

/** Signs in, consents and exchanges: tokens of a fresh grant. */
export const grantTokens = async ({ server, user, app }: World, scope = userScopes): Promise<Tokens> => {
  const session = await signIn(server.url, user)
  const { body } = await exchange(server.url, app, await authorize(server.url, session, app, scope))
  return { accessToken: body.accessToken, refreshToken: body.refreshToken, grantId: body.grantId }
}
