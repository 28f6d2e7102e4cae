import { expect } from 'bun:test'
import { join } from 'node:path'
import { challengeOf } from '../../../src/domain/pkce.ts'
import {
  authenticateAppToken,
  authenticateSession,
  authenticateUserToken,
} from '../../../src/operations/authenticate.ts'
import { authorize } from '../../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../../src/operations/oauth/continue-grant.ts'
import { introspect } from '../../../src/operations/oauth/introspect.ts'
import { issueAppToken } from '../../../src/operations/oauth/issue-app-token.ts'
import { revokeByClient } from '../../../src/operations/oauth/revoke.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { signIn } from '../../support/sign-in.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator, trace } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, installApp, verifier } from '../../support/world.ts'
import { listResources } from '../../../src/operations/resources/resources.ts'
import { openStore, startProxy } from './support.ts'

const { test } = needs('postgres')

/** Often enough that every statement has been prepared on the connection that takes it. */
const rehearsals = 5

const nothing = async () => undefined

test('an operation waits for PostgreSQL no more often than its decisions need', async () => {
  const proxy = await startProxy('round-trips', [])
  const file = await openAsOperator(join(temporaryFolder(), 'unused.db'))
  const platform: Platform = { ...file, database: await openStore(proxy.url) }
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  await installApp(platform, app, user)
  const client = app.development
  const { sessionToken } = await signIn(platform, trace, user)

  const caller = async () => {
    const session = await authenticateSession(platform, sessionToken)
    if (session === null) throw new Error('not signed in')
    return session
  }
  const request = {
    clientId: client.clientId,
    redirectUri: app.redirectUri,
    scope: 'profile:read site:read',
    state: 'af0ifjsldkj',
    codeChallenge: challengeOf(verifier),
    codeChallengeMethod: 'S256',
  }
  const consent = async () => await authorize(platform, trace, await caller(), request, true)
  const issue = async () => await issueAppToken(platform, trace, { ...client, scope: 'site:read' })
  const exchange = async (code: string) =>
    await exchangeCode(platform, trace, { ...client, code, redirectUri: app.redirectUri, codeVerifier: verifier }, null)
  const refresh = async (refreshToken: string) =>
    await refreshTokens(platform, trace, { ...client, refreshToken, scope: null }, null)
  const revoke = async (token: string) => await revokeByClient(platform, trace, client, token)

  /** The round trips of the last of several calls. What a call needs is made before. */
  const trips = async <T>(prepare: () => Promise<T>, call: (made: T) => unknown): Promise<number> => {
    for (let rehearsal = 0; ; rehearsal += 1) {
      const made = await prepare()
      proxy.traffic.trips = 0
      await call(made)
      if (rehearsal === rehearsals) return proxy.traffic.trips
    }
  }
  const appToken = async () => (await issue()).accessToken
  const tokens = async () => await exchange((await consent()).code)

  const everySite = { kind: 'site', status: null, isInstalled: false } as const
  const listSites = async (token: string) => {
    const reader = await authenticateUserToken(platform, token)
    if (reader === null) throw new Error('no live token')
    return await listResources(platform, reader, everySite, { limit: 20, cursor: null })
  }

  expect({
    'check an app token': await trips(appToken, async (token) => await authenticateAppToken(platform, token)),
    'check a user access token': await trips(
      tokens,
      async (pair) => await authenticateUserToken(platform, pair.accessToken),
    ),
    'check a session': await trips(nothing, caller),
    introspect: await trips(tokens, async ({ accessToken }) => await introspect(platform, trace, client, accessToken)),
    'list websites': await trips(tokens, async ({ accessToken }) => await listSites(accessToken)),
    issue: await trips(nothing, issue),
    consent: await trips(nothing, consent),
    exchange: await trips(consent, async ({ code }) => await exchange(code)),
    refresh: await trips(tokens, async ({ refreshToken }) => await refresh(refreshToken)),
    'revoke an app token': await trips(appToken, revoke),
    'revoke a grant': await trips(tokens, async ({ refreshToken }) => await revoke(refreshToken)),
  }).toEqual({
    'check an app token': 1,
    'check a user access token': 1,
    'check a session': 1,
    introspect: 1,
    'list websites': 2,
    issue: 2,
    consent: 6,
    exchange: 2,
    refresh: 2,
    'revoke an app token': 4,
    'revoke a grant': 5,
  })
  await platform.database.close()
  await file.database.close()
  proxy.stop()
})
