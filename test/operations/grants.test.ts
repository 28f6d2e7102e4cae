import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { challengeOf } from '../../src/domain/pkce.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { listAuthorizations, listConnectedApps, revokeConnectedApps } from '../../src/operations/connected-apps.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signIn } from '../support/sign-in.ts'
import { authenticateSession, authenticateUserToken, type SessionCaller } from '../../src/operations/authenticate.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login, verifier } from '../support/world.ts'

let platform: Platform
let user: Login
let caller: SessionCaller
let app: AppInWorld
beforeEach(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'grants.db'))
  user = await addUser(platform)
  caller = await enter(user)
  app = await addApp(platform, await addUser(platform, 'Grace Publisher'))
})
afterEach(async () => await platform.database.close())

const hourMs = 3_600_000
const everything = { limit: 50, cursor: null } as const
const at = (offsetMs: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + offsetMs },
})
const enter = async (login: Login, when = platform): Promise<SessionCaller> => {
  const session = await authenticateSession(when, (await signIn(when, trace, login)).sessionToken)
  if (session === null) throw new Error('not signed in')
  return session
}
type Choice = {
  readonly of?: AppInWorld
  readonly by?: SessionCaller
  readonly scope?: string
  readonly live?: boolean
  readonly when?: Platform
}
const clientOf = ({ of = app, live = false }: Choice) => ({
  ...(live ? of.production : of.development),
  redirectUri: live ? of.liveRedirectUri : of.redirectUri,
})
/** Consents and returns the code. */
const allow = async (choice: Choice = {}) => {
  const { clientId, redirectUri } = clientOf(choice)
  const request = { codeChallenge: challengeOf(verifier), codeChallengeMethod: 'S256', state: 'x' }
  const { when = platform, scope = 'profile:read' } = choice
  const by = choice.by ?? (choice.when === undefined ? caller : await enter(user, when))
  return await authorize(when, trace, by, { clientId, redirectUri, scope, ...request }, true)
}
/** Consents and exchanges. */
const connect = async (choice: Choice = {}) => {
  const { code } = await allow(choice)
  const presented = { ...clientOf(choice), code, codeVerifier: verifier }
  return await exchangeCode(choice.when ?? platform, trace, presented, null)
}
const list = async (by = caller, when = platform) => await listConnectedApps(when, by)
const authorizations = async (clientId: string, by = caller) =>
  (await listAuthorizations(platform, by, clientId, everything)).data
const revokeOne = async (choice: Choice = {}) =>
  await revokeConnectedApps(platform, trace, caller, { kind: 'one', clientId: clientOf(choice).clientId })
const works = async ({ accessToken }: { accessToken: string }) =>
  (await authenticateUserToken(platform, accessToken)) !== null
const codeOf = async (answer: Promise<unknown>): Promise<unknown> =>
  await answer.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
const revocations = async () => (await auditEvents(platform)).filter(({ action }) => action === 'grant.revoked')

describe('the list of connected apps', () => {
  test('has the scopes, the start and the last token of each app in each environment', async () => {
    const first = await connect({ scope: 'site:read', when: at(-3 * hourMs) })
    await connect({ scope: 'profile.email:read profile:read', when: at(-2 * hourMs) })
    await connect({ live: true, when: at(-hourMs) })
    const [live, development, ...others] = await list()
    expect(others).toEqual([])
    expect(live).toMatchObject({ clientId: app.production.clientId, environment: 'production', authorizations: 1 })
    expect(development).toEqual({
      clientId: app.development.clientId,
      appId: expect.stringMatching(/^app_/),
      name: 'Newsletter',
      publisher: 'Grace Publisher',
      icon: null,
      environment: 'development',
      status: 'active',
      scopes: ['profile.email:read', 'profile:read', 'site:read'],
      since: expect.any(Number),
      lastFetchedAt: expect.any(Number),
      authorizations: 2,
    })
    const age = (moment = 0) => Math.round((platform.clock.now() - moment) / hourMs)
    expect([age(development?.since), age(development?.lastFetchedAt ?? 0)]).toEqual([3, 2])

    await refreshTokens(platform, trace, { ...app.development, refreshToken: first.refreshToken, scope: null }, null)
    const [latest] = await list()
    expect(latest).toMatchObject({ clientId: app.development.clientId, authorizations: 2 })
    expect([age(latest?.since), age(latest?.lastFetchedAt ?? 0)]).toEqual([3, 0])
  })

  test('has an app that was authorized and has fetched no token yet', async () => {
    await allow()
    expect(await list()).toMatchObject([{ clientId: app.development.clientId, lastFetchedAt: null }])
  })

  test('has no revoked or expired grant and none of another user', async () => {
    await connect({ by: await enter(await addUser(platform)) })
    expect(await list()).toEqual([])
    await connect()
    expect(await list(caller, at(31 * 24 * hourMs))).toEqual([])
    await revokeOne()
    expect(await list()).toEqual([])
  })

  test('shows that an app is suspended', async () => {
    await connect()
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
    expect(await list()).toMatchObject([{ status: 'suspended' }])
  })
})

describe('the authorizations of one app', () => {
  test('are listed newest first, each with its own scopes and its last token', async () => {
    const { grantId } = await connect({ scope: 'site:read' })
    const { grantId: unused } = await allow({ scope: 'profile:read' })
    await connect({ live: true })
    expect(await authorizations(app.development.clientId)).toEqual([
      {
        grantId: unused,
        scopes: ['profile:read'],
        since: expect.any(Number),
        lastFetchedAt: null,
        expiresAt: expect.any(Number),
      },
      {
        grantId,
        scopes: ['site:read'],
        since: expect.any(Number),
        lastFetchedAt: expect.any(Number),
        expiresAt: expect.any(Number),
      },
    ])
    expect(await authorizations(app.development.clientId, await enter(await addUser(platform)))).toEqual([])
    expect(await authorizations('nobody')).toEqual([])
  })

  test('come in pages without repetition', async () => {
    const all: string[] = []
    for (let count = 0; count < 5; count += 1) all.unshift((await connect()).grantId)
    const seen: string[] = []
    for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages += 1) {
      const page = await listAuthorizations(platform, caller, app.development.clientId, { limit: 2, cursor })
      seen.push(...page.data.map(({ grantId }) => grantId))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(all)
    const bad = listAuthorizations(platform, caller, app.development.clientId, { limit: 2, cursor: 'grt_' })
    expect(await codeOf(bad)).toBe('invalid_request')
  })
})

describe('revoking', () => {
  test('one app ends all its grants of the user in that environment, their tokens and codes, and nothing else', async () => {
    const stranger = await enter(await addUser(platform))
    const otherApp = await addApp(platform, user)
    const ended = [await connect(), await connect({ scope: 'site:read' })]
    const kept = [await connect({ live: true }), await connect({ of: otherApp }), await connect({ by: stranger })]
    const { code, grantId } = await allow()
    expect(await revokeOne()).toBe(3)

    expect(await Promise.all(ended.map(works))).toEqual([false, false])
    expect(await Promise.all(kept.map(works))).toEqual([true, true, true])
    for (const { refreshToken } of ended) {
      const refreshed = refreshTokens(platform, trace, { ...app.development, refreshToken, scope: null }, null)
      expect(await codeOf(refreshed)).toBe('invalid_grant')
    }
    const presented = { ...clientOf({}), code, codeVerifier: verifier }
    expect(await codeOf(exchangeCode(platform, trace, presented, null))).toBe('invalid_grant')

    const rows = await revocations()
    expect(rows.map(({ target }) => target).toSorted()).toEqual(
      [...ended.map(({ grantId }) => grantId), grantId].toSorted(),
    )
    expect(new Set(rows.map(({ id }) => id)).size).toBe(3)
    for (const row of rows) {
      expect(row).toMatchObject({ actorKind: 'user', actorId: user.id, appId: app.id, environment: 'development' })
    }
  })

  test('all apps ends every grant of the user, once', async () => {
    const otherApp = await addApp(platform, user)
    const ended = [await connect(), await connect({ live: true }), await connect({ of: otherApp })]
    const kept = await connect({ by: await enter(await addUser(platform)) })
    expect(await revokeConnectedApps(platform, trace, caller, { kind: 'all' })).toBe(3)
    expect(await Promise.all(ended.map(works))).toEqual([false, false, false])
    expect(await works(kept)).toBe(true)
    expect(await list()).toEqual([])
    expect(await revokeConnectedApps(platform, trace, caller, { kind: 'all' })).toBe(0)
    expect(await revocations()).toHaveLength(3)
  })

  test('ends any number of grants, each with its event', async () => {
    const first = await connect()
    const template = await platform.database.queries.grants.byId(first.grantId)
    if (template === null) throw new Error('there is no grant')
    await platform.database.transaction(async (q) => {
      for (let count = 0; count < 1_200; count += 1) {
        await q.grants.insert({
          ...template,
          key: platform.random.timeKey(platform.clock.now()),
          id: `grt_${count.toString(16).padStart(32, '0')}`,
        })
      }
    })
    expect(await revokeOne()).toBe(1_201)
    expect([await works(first), await list()]).toEqual([false, []])
    const ids = (await revocations()).map(({ id }) => id)
    expect(new Set(ids).size).toBe(1_201)
    expect(new Set(ids.map((id) => id.slice(0, -12))).size).toBe(3) // transactions, of 500 at most
  })

  test('ends expired grants too, which would work again if the clock were set back', async () => {
    const tokens = await connect({ when: at(-31 * 24 * hourMs) })
    expect(await list()).toEqual([])
    expect(await revokeOne()).toBe(1)
    const back = at(-30 * 24 * hourMs)
    const { refreshToken } = tokens
    const refreshed = refreshTokens(back, trace, { ...app.development, refreshToken, scope: null }, null)
    expect(await codeOf(refreshed)).toBe('invalid_grant')
  })
})
