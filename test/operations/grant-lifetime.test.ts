import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { challengeOf } from '../../src/domain/pkce.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { introspect } from '../../src/operations/oauth/introspect.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { authenticateUserToken } from '../../src/operations/authenticate.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, verifier } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

let platform: Platform
let app: AppInWorld
/** A grant lives for 100 seconds; a refresh token would live for 40, an access token for 30. */
let now: number
beforeEach(async () => {
  const opened = await openAsOperator(join(temporaryFolder(), 'grants.db'))
  now = opened.clock.now()
  const lifetimes = { ...opened.lifetimes, grant: 100, refreshToken: 40, accessToken: 30 }
  platform = { ...opened, lifetimes, clock: { ...opened.clock, now: () => now } }
})
afterEach(async () => await platform.database.close())

const granted = async () => {
  const user = await addUser(platform)
  app = await addApp(platform, user)
  const { clientId } = app.development
  const asked = { clientId, redirectUri: app.redirectUri, scope: 'profile:read', state: 'x' }
  const pkce = { codeChallenge: challengeOf(verifier), codeChallengeMethod: 'S256' }
  const { code } = await authorize(platform, trace, await sessionOf(platform, user), { ...asked, ...pkce }, true)
  const request = { ...app.development, code, redirectUri: app.redirectUri, codeVerifier: verifier }
  return await exchangeCode(platform, trace, request, null)
}
const refresh = async (refreshToken: string) =>
  await refreshTokens(platform, trace, { ...app.development, refreshToken, scope: null }, null)
const isActive = async (token: string) => (await introspect(platform, trace, app.development, token)).token !== null

test('a grant ends at its lifetime even if it is refreshed, and none of its tokens lives longer', async () => {
  let tokens = await granted()
  const told: number[][] = []
  for (let round = 0; round < 3; round += 1) {
    now += 30_000
    tokens = await refresh(tokens.refreshToken)
    told.push([tokens.expiresInSeconds, tokens.refreshTokenExpiresInSeconds])
  }
  expect(told).toEqual([
    [30, 40],
    [30, 40],
    [10, 10],
  ])
  now += 9_000
  expect(await authenticateUserToken(platform, tokens.accessToken)).not.toBeNull()
  expect(await isActive(tokens.refreshToken)).toBe(true)
  now += 1_000
  expect(await authenticateUserToken(platform, tokens.accessToken)).toBeNull()
  expect(await isActive(tokens.refreshToken)).toBe(false)
  expect(await refusalOf(refresh(tokens.refreshToken))).toBe('invalid_grant')
})

test('a refresh token is refused once its grant exceeds a lifetime that was shortened', async () => {
  const { refreshToken } = await granted()
  platform = { ...platform, lifetimes: { ...platform.lifetimes, grant: 10 } }
  now += 9_000
  expect(await isActive(refreshToken)).toBe(true)
  now += 500 // less than a second is left: there is nothing to issue
  expect(await refusalOf(refresh(refreshToken))).toBe('invalid_grant')
  now += 500
  expect(await isActive(refreshToken)).toBe(false)
})

test('a code expires no later than its grant', async () => {
  platform = { ...platform, lifetimes: { ...platform.lifetimes, grant: 2 } }
  expect((await granted()).refreshTokenExpiresInSeconds).toBe(2)
})
