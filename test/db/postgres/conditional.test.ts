import { expect } from 'bun:test'
import { join } from 'node:path'
import { challengeOf } from '../../../src/domain/pkce.ts'
import { authenticateSession, authenticateUserToken } from '../../../src/operations/authenticate.ts'
import { authorize } from '../../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../../src/operations/oauth/continue-grant.ts'
import type { IssuedTokens } from '../../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { signIn } from '../../support/sign-in.ts'
import { askPostgres, connectTo } from '../../support/beside.ts'
import { pairOf } from '../../support/grant-family.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator, trace } from '../../support/operator.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login, verifier } from '../../support/world.ts'
import { type Fate, openStore, startProxy } from './support.ts'

const { test, beforeAll, afterAll, describe } = needs('postgres')

const name = 'conditional'
let platform: Platform
let user: Login
let app: AppInWorld
beforeAll(async () => {
  const file = await openAsOperator(join(temporaryFolder(), 'unused.db'))
  platform = { ...file, database: await openStore(name) }
  user = await addUser(platform)
  app = await addApp(platform, user)
})
afterAll(async () => await platform.database.close())

/** A value of each new token pair, and of nothing else that a store behind the proxy sends. */
const scopes = 'profile:read site:read'

const consent = async (): Promise<string> => {
  const { sessionToken } = await signIn(platform, trace, user)
  const session = await authenticateSession(platform, sessionToken)
  if (session === null) throw new Error('not signed in')
  const client = { clientId: app.development.clientId, redirectUri: app.redirectUri, state: 'af0ifjsldkj' }
  const challenge = { codeChallenge: challengeOf(verifier), codeChallengeMethod: 'S256' }
  return (await authorize(platform, trace, session, { ...client, ...challenge, scope: scopes }, true)).code
}
const exchange = async (by: Platform, code: string): Promise<IssuedTokens> =>
  await exchangeCode(
    by,
    trace,
    { ...app.development, code, redirectUri: app.redirectUri, codeVerifier: verifier },
    null,
  )
const refresh = async (by: Platform, { refreshToken }: IssuedTokens, client = app.development): Promise<IssuedTokens> =>
  await refreshTokens(by, trace, { ...client, refreshToken, scope: null }, null)

/** A grant without tokens, and a pair for it. */
const fresh = async () => {
  const { grantId } = await exchange(platform, await consent())
  const grant = await platform.database.queries.grants.byId(grantId)
  if (grant === null) throw new Error('the grant is gone')
  const pair = pairOf(platform, grant, platform.random.timeKey(platform.clock.now()), grant.currentKey)
  return { grant, pair }
}

test('a change with its own conditions is kept without locks; if they are not met, and with anything else, its transaction runs again with locks', async () => {
  const { grant, pair } = await fresh()
  const { database } = platform
  const advance = async (extra: 'nothing more' | 'a write before' | 'a write after a refusal') => {
    let runs = 0
    const hasChanged = await database.transaction(
      async (q) => {
        runs += 1
        await q.grants.byId(grant.id)
        if (extra === 'a write before') await q.credentials.touch('crd_x', 1)
        const isFirst = await q.grants.advance(pair, grant)
        if (!isFirst && extra === 'a write after a refusal') await q.grants.revoke(grant.id, 2)
        return isFirst
      },
      { kind: 'conditional' },
    )
    return { hasChanged, runs }
  }
  expect(await advance('nothing more')).toEqual({ hasChanged: true, runs: 1 })
  expect(await advance('nothing more')).toEqual({ hasChanged: false, runs: 2 })
  expect(await advance('a write before')).toEqual({ hasChanged: false, runs: 2 })
  expect(await advance('a write after a refusal')).toEqual({ hasChanged: false, runs: 2 })
  expect(await database.queries.grants.byId(grant.id)).toMatchObject({ currentKey: pair.key, revokedAt: 2 })
})

test('nothing may follow the change that commits by itself', async () => {
  const { grant, pair } = await fresh()
  const writing = platform.database.transaction(
    async (q) => {
      await q.grants.advance(pair, grant)
      await q.grants.revoke(grant.id, 2)
    },
    { kind: 'conditional' },
  )
  await expect(writing).rejects.toThrow('after the change that ends its transaction')
})

describe('an exchange and a refresh', () => {
  const fates: readonly (readonly Fate[])[] = [
    ['answer lost'],
    ['request lost'],
    ['answer lost', 'answer lost'],
    ['request lost', 'request lost', 'answer lost'],
  ]
  for (const lost of fates) {
    test(`happen once (${lost.join(', ')}), and are not taken for reuse`, async () => {
      for (const kind of ['exchange', 'refresh'] as const) {
        const code = await consent()
        const before = kind === 'refresh' ? await exchange(platform, code) : null
        const left = [...lost]
        const proxy = await startProxy(name, left, undefined, undefined, ['COMMIT', scopes])
        const behind = { ...platform, database: await openStore(proxy.url) }
        const tokens = before === null ? await exchange(behind, code) : await refresh(behind, before)
        await behind.database.close()
        proxy.stop()
        expect(left).toEqual([])
        expect(await authenticateUserToken(platform, tokens.accessToken)).not.toBeNull()
        const next = await refresh(platform, tokens)
        expect(await authenticateUserToken(platform, next.accessToken)).not.toBeNull()
      }
    })
  }
})

test('a refresh whose answer the store has lost gets its own tokens, also if the client has meanwhile repeated it and gone on', async () => {
  const before = await exchange(platform, await consent())
  const proxy = await startProxy(name, ['answer lost'], undefined, undefined, ['COMMIT', scopes])
  const store = await openStore(proxy.url)
  const meanwhile: IssuedTokens[] = []
  let runs = 0
  const transaction: Platform['database']['transaction'] = async (work, options) =>
    await store.transaction(async (q) => {
      runs += 1
      if (runs === 2) {
        const repeated = await refresh(platform, before)
        meanwhile.push(repeated, await refresh(platform, repeated))
      }
      return await work(q)
    }, options)
  const database = new Proxy(store, {
    get: (of, member) => (member === 'transaction' ? transaction : Reflect.get(of, member, of)),
  })
  const tokens = await refresh({ ...platform, database }, before)
  await store.close()
  proxy.stop()
  const [repeated, latest] = meanwhile
  expect(runs).toBe(2)
  expect(repeated?.refreshToken).toBe(tokens.refreshToken)
  expect(await authenticateUserToken(platform, latest?.accessToken ?? '')).not.toBeNull()
})

test('a client that is not authenticated locks no grant, and waits for none', async () => {
  const tokens = await exchange(platform, await consent())
  const sql = connectTo(await postgresDatabase(name))
  await sql.begin(async (holder) => {
    await holder`SELECT 1 FROM grants FOR UPDATE`
    const impostor = { ...app.development, clientSecret: app.production.clientSecret }
    await expect(refresh(platform, tokens, impostor)).rejects.toMatchObject({ code: 'invalid_client' })
  })
  await sql.close()
  const [row] = await askPostgres<{ count: number }>(
    await postgresDatabase(name),
    "SELECT count(*) AS count FROM audit_events WHERE action = 'refresh_token.rotate'",
    [],
  )
  expect(row?.count).toBe(1)
  await refresh(platform, tokens)
})
