import { expect, test } from 'bun:test'
import { platformOfFile } from '../support/platform-of-file.ts'
import { keyDigitsOf, secretUnder } from '../support/forged.ts'
import { type SecretKind, secretPrefixes } from '../../src/domain/secret.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { introspect } from '../../src/operations/oauth/introspect.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { revokeByClient } from '../../src/operations/oauth/revoke.ts'
import { signIn } from '../support/sign-in.ts'
import {
  authenticateAppToken,
  authenticateEmbeddedSession,
  authenticateSession,
  authenticateUserToken,
} from '../../src/operations/authenticate.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { trace } from '../support/operator.ts'
import { addApp, addUser, authorizeBody, exchangeBody } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

// Anyone who knows the key of a row can make a well-formed secret for it. The hash decides.

const platform = await platformOfFile()
const user = await addUser(platform)
const app = await addApp(platform, user)

/** A secret of the same kind and row, with other random bits and a right checksum. */
const forged = (kind: SecretKind, text: string): string => secretUnder(kind, keyDigitsOf(kind, text))
const consent = async () =>
  (await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)).code

test('no forged token is accepted, and the genuine one keeps working', async () => {
  const { accessToken: appToken } = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const { accessToken } = await exchangeCode(platform, trace, exchangeBody(app, await consent()), null)
  const { sessionToken } = await signIn(platform, trace, user)
  for (const [kind, text, authenticate] of [
    ['appToken', appToken, authenticateAppToken],
    ['userAccessToken', accessToken, authenticateUserToken],
    ['session', sessionToken, authenticateSession],
  ] as const) {
    expect(await authenticate(platform, forged(kind, text))).toBeNull()
    expect(await authenticate(platform, text)).not.toBeNull()
  }
})

test('a malformed token of any kind is refused', async () => {
  for (const prefix of Object.values(secretPrefixes)) {
    for (const text of [prefix, `${prefix}nonsense`, `${prefix}${'0'.repeat(71)}`]) {
      expect(await authenticateAppToken(platform, text)).toBeNull()
      expect(await authenticateUserToken(platform, text)).toBeNull()
      expect(await authenticateSession(platform, text)).toBeNull()
      expect(await authenticateEmbeddedSession(platform, text)).toEqual({ caller: null, origin: null })
    }
  }
})

test('no endpoint accepts a forged client secret', async () => {
  const { clientId, clientSecret } = app.development
  const credentials = { clientId, clientSecret: forged('clientSecretDevelopment', clientSecret) }
  const code = await consent()
  for (const attempt of [
    async () => await issueAppToken(platform, trace, { ...credentials, scope: 'site:read' }),
    async () => await exchangeCode(platform, trace, { ...exchangeBody(app, code), ...credentials }, null),
    async () => await refreshTokens(platform, trace, { ...credentials, refreshToken: 'none', scope: null }, null),
    async () => await revokeByClient(platform, trace, credentials, 'none'),
    async () => await introspect(platform, trace, credentials, 'none'),
  ]) {
    expect(await refusalOf(attempt())).toBe('invalid_client')
  }
})

test('a forged code or refresh token issues nothing, spends nothing and ends nothing', async () => {
  const code = await consent()
  const exchange = async (text: string) => await exchangeCode(platform, trace, exchangeBody(app, text), null)
  expect(await refusalOf(exchange(forged('authorizationCode', code)))).toBe('invalid_grant')
  const { refreshToken, accessToken } = await exchange(code)
  const refresh = async (text: string) =>
    await refreshTokens(platform, trace, { ...app.development, refreshToken: text, scope: null }, null)
  expect(await refusalOf(refresh(forged('refreshToken', refreshToken)))).toBe('invalid_grant')
  await revokeByClient(platform, trace, app.development, forged('refreshToken', refreshToken))
  await revokeByClient(platform, trace, app.development, forged('userAccessToken', accessToken))
  expect((await introspect(platform, trace, app.development, forged('refreshToken', refreshToken))).token).toBeNull()
  expect((await introspect(platform, trace, app.development, refreshToken)).token).not.toBeNull()
  expect((await refresh(refreshToken)).grantId).toStartWith('grt_')
})

test('a forged install-session code or embedded session is refused and revokes nothing', async () => {
  const install = await addEmbeddedInstall(platform, app, user)
  const { code } = await issueInstallSessionCode(platform, trace, await sessionOf(platform, user), install)
  const place = { clientId: app.production.clientId, origin: embedOrigin(app) }
  const wrong = { ...place, code: forged('installSessionCode', code) }
  expect(await refusalOf(exchangeInstallSessionCode(platform, trace, wrong))).toBe('invalid_grant')
  await revokeByClient(platform, trace, app.production, wrong.code)
  const { sessionToken } = await exchangeInstallSessionCode(platform, trace, { ...place, code })
  const callerOf = async (text: string) => (await authenticateEmbeddedSession(platform, text)).caller
  expect(await callerOf(forged('embeddedSession', sessionToken))).toBeNull()
  await revokeByClient(platform, trace, app.production, forged('embeddedSession', sessionToken))
  expect(await callerOf(sessionToken)).not.toBeNull()
})
