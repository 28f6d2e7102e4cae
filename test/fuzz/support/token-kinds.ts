import { issueAppToken } from '../../../src/operations/oauth/issue-app-token.ts'
import { createServiceKey } from '../../../src/operations/service-keys/change-service-keys.ts'
import { signIn } from '../../support/sign-in.ts'
import { addOperator } from '../../pages/support/operator-world.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../../support/embedding.ts'
import { type Answer, call } from '../../support/call.ts'
import { operator, trace } from '../../support/operator.ts'
import { appToken, authorize, exchange, type World } from '../../support/world.ts'

/** What a request shows for itself, each time a fresh one, since some calls end what they are made with. */
export type TokenKind = keyof Sources
type Sources = ReturnType<typeof sourcesOf>

/** A session of somebody, made without the slow hash of the server's own sign-in. */
const sessionFor = async ({ platform }: World, login: { readonly email: string; readonly password: string }) =>
  (await signIn(platform, trace, login)).sessionToken

const sourcesOf = (
  world: World,
  installId: string,
  operator: { readonly email: string; readonly password: string },
  serviceKey: string,
) => {
  const { app, user, platform, server } = world
  const { url } = server
  const session = async () => await sessionFor(world, user)
  const grant = async () => (await exchange(url, app, await authorize(url, await session(), app))).body
  const installCode = async () => await openInstall(platform, await session(), installId)
  const embedded = async () => {
    const { clientId } = app.production
    const asked = { clientId, code: await installCode(), origin: embedOrigin(app) }
    return (await exchangeInstallCode(url, asked)).body.sessionToken
  }
  const ofApp = async () => await appToken(url, app.development)
  const past = { ...platform, clock: { ...platform.clock, now: () => platform.clock.now() - dayMs } }
  const ended = async (method: string, path: string, token: string): Promise<string> => {
    await call(url, method, path, { token, ...(method === 'POST' ? { body: {} } : {}) })
    return token
  }
  return {
    'development app token': ofApp,
    'production app token': async () => await appToken(url, app.production),
    'user access token': async () => (await grant()).accessToken,
    'refresh token': async () => (await grant()).refreshToken,
    'authorization code': async () => await authorize(url, await session(), app),
    session,
    "operator's session": async () => await sessionFor(world, operator),
    'embedded session': embedded,
    'install-session code': installCode,
    'client secret': async () => app.development.clientSecret,
    'app token that has expired': async () =>
      (await issueAppToken(past, trace, { ...app.development, scope: 'site:read' })).accessToken,
    'app token that was revoked': async () => await ended('POST', '/oauth/revoke', await ofApp()),
    'user access token that was revoked': async () => await ended('POST', '/oauth/revoke', (await grant()).accessToken),
    'session that was signed out': async () => await ended('DELETE', '~/api/session', await session()),
    'token with a changed digit': async () => changed(await ofApp()),
    'token cut short': async () => (await ofApp()).slice(0, -1),
    'token in capitals': async () => (await ofApp()).toUpperCase(),
    'well-formed token that nobody issued': async () => `apat_${'0'.repeat(71)}`,
    'service key': async () => serviceKey,
    'operator key, which is reserved': async () => (await ofApp()).replace('apat_', 'apok_'),
    'JSON Web Token': async () => 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.',
  } as const
}

const dayMs = 24 * 3_600_000
const changed = (token: string): string => `${token.slice(0, 40)}${token[40] === 'a' ? 'b' : 'a'}${token.slice(41)}`

export const createTokenKinds = async (world: World): Promise<Sources> => {
  const { platform, app, user } = world
  const installId = await addEmbeddedInstall(platform, app, user)
  const input = { name: 'Product API', rights: ['tokens:introspect'], networks: [], expiresInDays: null }
  const { secret } = await createServiceKey(platform, trace, operator, input)
  return sourcesOf(world, installId, await addOperator(platform, 'Olive Operator'), secret)
}

/** Status and code, whichever format the answer has. */
export const outcomeOf = ({ status, body }: Answer): string => {
  const code = typeof body?.error === 'string' ? body.error : body?.error?.code
  return code === undefined ? String(status) : `${status} ${code}`
}
