import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { isUnended } from '../../src/domain/credential.ts'
import { challengeOf } from '../../src/domain/pkce.ts'
import { listCredentials, revokeCredential, rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { signIn } from '../support/sign-in.ts'
import { authenticateSession, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { askBeside } from '../support/beside.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login, verifier } from '../support/world.ts'

let file: string
let platform: Platform
let user: Login
let app: AppInWorld

beforeEach(async () => {
  file = join(temporaryFolder(), 'doubt.db')
  platform = await openAsOperator(file)
  user = await addUser(platform)
  app = await addApp(platform, user)
})
afterEach(async () => await platform.database.close())

const dayMs = 24 * 3_600_000
const at = (offsetMs: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + offsetMs },
})

const codeAt = async (when: Platform): Promise<string> => {
  const session = await authenticateSession(when, (await signIn(when, trace, user)).sessionToken)
  if (session === null) throw new Error('not signed in')
  const request = {
    clientId: app.development.clientId,
    redirectUri: app.redirectUri,
    scope: 'profile:read',
    state: 'x',
    codeChallenge: challengeOf(verifier),
    codeChallengeMethod: 'S256',
  }
  return (await authorize(when, trace, session, request, true)).code
}
const exchangeAt = async (when: Platform, code: string) =>
  await exchangeCode(
    when,
    trace,
    { ...app.development, code, redirectUri: app.redirectUri, codeVerifier: verifier },
    null,
  )
const refreshAt = async (when: Platform, refreshToken: string) =>
  await refreshTokens(when, trace, { ...app.development, refreshToken, scope: null }, null)
const codeOf = async (answer: Promise<unknown>): Promise<unknown> =>
  await answer.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )

test('a code and a refresh token issued while the clock was ahead do not outlive their lifetimes', async () => {
  const code = await codeAt(at(40 * dayMs))
  expect(await codeOf(exchangeAt(platform, code))).toBe('invalid_grant')
  const { refreshToken } = await exchangeAt(at(40 * dayMs), await codeAt(at(40 * dayMs)))
  expect(await codeOf(refreshAt(platform, refreshToken))).toBe('invalid_grant')
})

test('a grace period that was set while the clock was ahead is void', async () => {
  const { clientId } = app.development
  await rotateCredential(at(40 * dayMs), trace, operator, { clientId, graceHours: 1 })
  const [rotated] = await listCredentials(platform, app.slug)
  expect(rotated?.status).toBe('ended')
  expect(isUnended({ revokedAt: null, expiresAt: 168 * 3_600_000 }, 0)).toBe(true)
  expect(isUnended({ revokedAt: null, expiresAt: 169 * 3_600_000 }, 0)).toBe(false)
})

test('a revoked secret stays revoked whatever the clock says about its grace period', async () => {
  const { clientId } = app.development
  await rotateCredential(platform, trace, operator, { clientId, graceHours: 24 })
  const [rotated] = await listCredentials(platform, app.slug)
  const revoked = await revokeCredential(at(2 * dayMs), trace, operator, rotated?.id ?? '')
  expect(revoked.revokedAt).not.toBeNull()
  expect((await listCredentials(platform, app.slug))[0]?.status).toBe('ended')
})

test('a code is refused once its redirect URI has been removed', async () => {
  const code = await codeAt(platform)
  const change = { slug: app.slug, environment: 'development' as const, uri: app.redirectUri }
  await removeRedirectUri(platform, trace, operator, change)
  expect(await codeOf(exchangeAt(platform, code))).toBe('invalid_grant')
})

test('no token of a family that a purge has only shortened works again', async () => {
  let tokens = await exchangeAt(platform, await codeAt(platform))
  const spent = [tokens]
  for (let round = 0; round < 8; round += 1) {
    tokens = await refreshAt(platform, tokens.refreshToken)
    spent.push(tokens)
  }
  // Its last pair has expired while older ones have not: the lifetimes were shortened in between.
  const { grantId } = tokens
  const purged = await platform.database.transaction(
    async (q) => await q.grants.purgeFamily(grantId, platform.clock.now() + 60 * dayMs, 6),
  )
  expect(purged.kind).toBe('shortened')
  for (const { accessToken, refreshToken } of spent) {
    expect(await authenticateUserToken(platform, accessToken)).toBeNull()
    expect(await codeOf(refreshAt(platform, refreshToken))).toBe('invalid_grant')
  }
})

test('a purge leaves a family alone that was refreshed or removed meanwhile', async () => {
  const { grantId, accessToken } = await exchangeAt(platform, await codeAt(platform))
  const purge = async (id: string) =>
    await platform.database.transaction(async (q) => await q.grants.purgeFamily(id, platform.clock.now(), 250))
  expect(await purge(grantId)).toEqual({ kind: 'kept' })
  expect(await authenticateUserToken(platform, accessToken)).toMatchObject({ grantId })
  expect(await purge('grt_gone')).toEqual({ kind: 'kept' })
})

/** As a client that may repeat its request. */
const exchangeAgain = async (code: string) =>
  await exchangeCode(
    platform,
    trace,
    { ...app.development, code, redirectUri: app.redirectUri, codeVerifier: verifier },
    'the same request',
  )

test('an answer is repeated only if its salt, its tokens and its row are unchanged', async () => {
  const damages = [
    { column: 'retry_salt', value: new Uint8Array(32) },
    { column: 'current_key', value: 0 },
  ]
  for (const { column, value } of damages) {
    const code = await codeAt(platform)
    const { grantId, accessToken } = await exchangeAgain(code)
    expect((await exchangeAgain(code)).accessToken).toBe(accessToken)
    const { key = 0 } = (await platform.database.queries.grants.byId(grantId)) ?? {}
    await askBeside(file, `UPDATE grants SET ${column} = ? WHERE key = ? RETURNING key`, value, key)
    expect(await codeOf(exchangeAgain(code))).toBe('invalid_grant')
  }
})

test('an answer is not repeated once its refresh token has been presented, even if that was refused', async () => {
  const code = await codeAt(platform)
  const { accessToken, refreshToken } = await exchangeAgain(code)
  expect((await exchangeAgain(code)).accessToken).toBe(accessToken)
  const more = { ...app.development, refreshToken, scope: 'profile:read site:read' }
  expect(await codeOf(refreshTokens(platform, trace, more, null))).toBe('invalid_scope')
  expect(await codeOf(exchangeAgain(code))).toBe('invalid_grant')
  expect(await codeOf(refreshAt(platform, refreshToken))).toBe('invalid_grant') // the spent code was presented again, so the grant has ended
})
