import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { timeKeyInDigits } from '../../src/domain/time-key.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import { hashSecret, mintSecret, secretDigits } from '../../src/domain/secret.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { authorize as authorizeInPlatform } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll, type PurgeResult } from '../../src/operations/purge/purge.ts'
import { signIn as signInPlatform } from '../support/sign-in.ts'
import { authenticateAppToken, authenticateSession, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { createClock } from '../../src/runtime/clock.ts'
import { auditEvents } from '../support/audit-events.ts'
import { call } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { countExpiredAppTokens, countRows, fillWithAppTokens } from '../support/expired-rows.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { patience, rounds } from '../support/proof.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  appToken,
  authorize,
  authorizeBody,
  createWorld,
  endWorld,
  exchange,
  grantTokens,
  type Login,
  refresh,
  signIn,
  type World,
} from '../support/world.ts'
import { faultsIn } from '../support/database-file.ts'

const hour = 3_600_000
const day = 24 * hour
const year = 365 * day
const mostRows = 500
const tables = [
  'app_tokens',
  'sessions',
  'grants',
  'authorization_codes',
  'token_pairs',
  'idempotency_keys',
  'artifacts',
  'artifact_chunks',
]

/** A platform of its own whose machine clock the test sets; time stands still otherwise. */
const platformAt = async (file = join(temporaryFolder(), 'app-platform.db')) => {
  const start = Date.now()
  const time = { wall: start, monotonic: 0 }
  const sources = { wall: () => time.wall, monotonic: () => time.monotonic }
  const platform: Platform = { ...(await openAsOperator(file)), clock: createClock(sources, null) }
  /** Time passes on both clocks. */
  const pass = (milliseconds: number) => {
    time.wall += milliseconds
    time.monotonic += milliseconds
  }
  /** Only the machine's clock changes. */
  const jump = (milliseconds: number) => {
    time.wall += milliseconds
  }
  return { platform, file, pass, jump }
}

/** Purges, and returns the largest number of rows that one transaction removed. */
const purge = async (platform: Platform, file: string): Promise<{ removed: PurgeResult; largest: number }> => {
  const total = async () => Object.values(await countRows(file, ...tables)).reduce((sum, rows) => sum + rows, 0)
  let largest = 0
  const watched: Platform = {
    ...platform,
    database: {
      queries: platform.database.queries,
      transaction: async (work) => {
        const before = await total()
        const result = await platform.database.transaction(work)
        largest = Math.max(largest, before - (await total()))
        return result
      },
      node: platform.database.node,
      leads: () => platform.database.leads(),
      sharing: () => platform.database.sharing(),
      time: () => platform.database.time(),
      cluster: null,
      backups: null,
      renewPassword: null,
      health: () => platform.database.health(),
      explain: (error) => error,
      statistics: () => platform.database.statistics(),
      keptTime: () => platform.database.keptTime(),
      keepTime: (at) => platform.database.keepTime(at),
      close: async () => await platform.database.close(),
    },
  }
  const removed = await purgeAll(
    watched,
    trace,
    async () => {},
    () => false,
  )
  return { removed, largest }
}

type Lived = {
  readonly appToken: string
  readonly session: string
  readonly code: string
  readonly spentRefreshToken: string
  readonly accessToken: string
  readonly refreshToken: string
  readonly grantId: string
}

/** One of everything, through the operations. */
const liveAWhile = async (
  platform: Platform,
  app: AppInWorld,
  user: Login,
  key: string | null = null,
): Promise<Lived> => {
  const issued = await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const { sessionToken } = await signInPlatform(platform, trace, user)
  const session = await authenticateSession(platform, sessionToken)
  if (session === null) throw new Error('a fresh session is not alive')
  const { consent, ...request } = authorizeBody(app)
  const { code } = await authorizeInPlatform(platform, trace, session, request, consent)
  const exchangeOf = { ...app.development, code, redirectUri: app.redirectUri, codeVerifier }
  const first = await exchangeCode(platform, trace, exchangeOf, key)
  const second = await refreshWith(platform, app, first.refreshToken)
  return {
    appToken: issued.accessToken,
    session: sessionToken,
    code,
    spentRefreshToken: first.refreshToken,
    accessToken: second.accessToken,
    refreshToken: second.refreshToken,
    grantId: second.grantId,
  }
}
const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

const refreshWith = async (platform: Platform, app: AppInWorld, refreshToken: string) =>
  await refreshTokens(platform, trace, { ...app.development, refreshToken, scope: null }, null)

const aliveIn = async (platform: Platform, lived: Lived) => ({
  app: (await authenticateAppToken(platform, lived.appToken)) !== null,
  session: (await authenticateSession(platform, lived.session)) !== null,
  user: (await authenticateUserToken(platform, lived.accessToken)) !== null,
})
const allAlive = { app: true, session: true, user: true }
const noneAlive = { app: false, session: false, user: false }
/** The kinds of which a purge removed rows. */
const kindsIn = (removed: PurgeResult) => Object.entries(removed).flatMap(([kind, rows]) => (rows > 0 ? [kind] : []))

describe('a purge', () => {
  test('removes everything that has expired, at most 500 rows per transaction, and nothing that is live', async () => {
    const { platform, file, pass } = await platformAt()
    const user = await addUser(platform)
    const app = await addApp(platform, user)
    const [credential] = await platform.database.queries.credentials.listByClient(app.development.clientId)
    const credentialId = credential?.id ?? ''
    const then = platform.clock.now()
    await fillWithAppTokens(file, { count: 700, credentialId, createdAt: then })
    await platform.database.transaction(async (q) => {
      for (let index = 0; index < 510; index += 1) {
        const key = rowKey(platform.random.uuid(then))
        const hash = hashSecret(mintSecret({ kind: 'session', key, digits: platform.random.digits(secretDigits) }))
        const session = {
          key,
          hash,
          userId: user.id,
          createdAt: then,
          expiresAt: then + 12 * hour,
          endedAt: null,
          address: 'local',
          agent: null,
          lastUsedAt: null,
          askedAt: null,
        }
        await q.sessions.insert(session)
        await q.formTickets.spend(session.key, then)
        // Different callers may well choose the same key.
        const name = { principal: `crd_${index}`, method: 'POST', path: '/versions', key: 'retry-1' }
        await q.idempotency.keep({ ...name, bodyHash: platform.random.bytes(32), outcome: '{}', expiresAt: then + day })
      }
      for (let index = 0; index < 3; index += 1) {
        const sha256 = platform.random.bytes(32)
        await q.artifacts.insert({ sha256, sizeBytes: 10, createdAt: then })
        for (let position = 0; position < 40; position += 1)
          await q.artifacts.insertChunk({ sha256, position, data: sha256 })
      }
    })
    let last = ''
    for (let index = 0; index < 20; index += 1) last = (await liveAWhile(platform, app, user)).refreshToken
    for (let index = 0; index < 550; index += 1) last = (await refreshWith(platform, app, last)).refreshToken

    pass(31 * day)
    const lived = await liveAWhile(platform, app, user)
    const { removed, largest } = await purge(platform, file)

    expect(largest).toBeGreaterThan(0)
    expect(largest).toBeLessThanOrEqual(mostRows)
    expect(await countRows(file, ...tables)).toEqual({
      app_tokens: 1,
      sessions: 1,
      grants: 1,
      authorization_codes: 1,
      token_pairs: 2,
      idempotency_keys: 0,
      artifacts: 0,
      artifact_chunks: 0,
    })
    expect(removed).toEqual({
      app_tokens: 700 + 20,
      sessions: 510 + 20,
      devices: 0,
      form_tickets: 510,
      sign_in_requests: 0,
      mails: 0,
      password_links: 0,
      app_invitations: 0,
      staged_resources: 0,
      install_session_codes: 0,
      embedded_sessions: 0,
      grants: 20 * 4 + 550,
      retry_salts: 20,
      idempotency_keys: 510,
      artifacts: 3,
      webhook_attempts: 0,
      webhook_events: 0,
      webhook_secrets: 0,
      deleted_apps: 0,
      anonymous_refusals: 0,
      audit_events: 0,
      audit_positions: 0,
      hourly_counts: expect.any(Number),
      daily_users: expect.any(Number),
    })
    expect(await aliveIn(platform, lived)).toEqual(allAlive)
    expect(await faultsIn(file)).toEqual([])
    await platform.database.close()
  })

  test('does nothing the second time and leaves no event', async () => {
    const { platform, file, pass } = await platformAt()
    const user = await addUser(platform)
    const app = await addApp(platform, user)
    await liveAWhile(platform, app, user)
    pass(31 * day)
    await purge(platform, file)
    const before = await countRows(file, 'audit_events')

    expect(kindsIn((await purge(platform, file)).removed)).toEqual([])
    expect(await countRows(file, 'audit_events')).toEqual(before)
    await platform.database.close()
  })

  test.each([
    ['code', 29 * day],
    ['refresh token', 29 * day],
  ] as const)(
    'keeps a spent %s while its family may live: it is known as reuse after %d ms and many purges',
    async (kind, age) => {
      const { platform, file, pass } = await platformAt()
      const user = await addUser(platform)
      const app = await addApp(platform, user)
      const lived = await liveAWhile(platform, app, user)
      pass(age)
      await purge(platform, file)
      const current = await refreshWith(platform, app, lived.refreshToken)
      await purge(platform, file)
      const again =
        kind === 'code'
          ? exchangeCode(
              platform,
              trace,
              { ...app.development, code: lived.code, redirectUri: app.redirectUri, codeVerifier },
              null,
            )
          : refreshWith(platform, app, lived.spentRefreshToken)

      expect(
        await again.then(
          () => 'issued',
          (error: unknown) => String(error),
        ),
      ).toContain('not valid for this request')
      expect(await authenticateUserToken(platform, current.accessToken)).toBeNull()
      const events = await auditEvents(platform, app)
      expect(events.at(-1)?.action).toBe('grant.reuse_detected')
      await platform.database.close()
    },
  )

  test('keeps an access token that outlives its refresh token, as settings may allow', async () => {
    const { platform: usual, file, pass } = await platformAt()
    const platform: Platform = { ...usual, lifetimes: { ...usual.lifetimes, refreshToken: 60 } }
    const user = await addUser(platform)
    const app = await addApp(platform, user)
    const lived = await liveAWhile(platform, app, user)
    pass(10 * 60_000)
    await purge(platform, file)

    expect(await aliveIn(platform, lived)).toEqual(allAlive)
    await platform.database.close()
  })
})

describe('a clock that jumps', () => {
  test('a year ahead purges nothing, and everything works again when it is corrected', async () => {
    const { platform, file, jump, pass } = await platformAt()
    const user = await addUser(platform)
    const app = await addApp(platform, user)
    const lived = await liveAWhile(platform, app, user, 'a key with a salt')
    jump(year)
    pass(30 * 60_000)
    const before = await countRows(file, ...tables)
    const { removed } = await purge(platform, file)

    // Doubt is a refusal, but it deletes nothing.
    expect(await aliveIn(platform, lived)).toEqual(noneAlive)
    expect(kindsIn({ ...removed, retry_salts: 0 })).toEqual([])
    expect(await countRows(file, ...tables)).toEqual(before)
    jump(-year)
    expect(await aliveIn(platform, lived)).toEqual(allAlive)
    await platform.database.close()
  })

  test('back revives nothing that has expired, and purges nothing that is live', async () => {
    const { platform, file, jump, pass } = await platformAt()
    const user = await addUser(platform)
    const app = await addApp(platform, user)
    const over = await liveAWhile(platform, app, user)
    pass(13 * hour)
    const lived = await liveAWhile(platform, app, user)
    expect(await aliveIn(platform, over)).toEqual(noneAlive)
    jump(-13 * hour)

    expect(await aliveIn(platform, over)).toEqual(noneAlive)
    expect(kindsIn((await purge(platform, file)).removed)).toEqual([])
    expect(await aliveIn(platform, lived)).toEqual(allAlive)
    jump(-year)
    expect(await aliveIn(platform, over)).toEqual(noneAlive)
    expect(kindsIn((await purge(platform, file)).removed)).toEqual([])
    await platform.database.close()
  })

  onSqlite('time beside the file')(
    'while the program is down revives nothing either: the file keeps the latest trusted time',
    async () => {
      const world = await createWorld()
      const token = await appToken(world.server.url, world.app.development)
      const tokens = await grantTokens(world)
      await world.server.stop()
      // As if the server had run on for two hours and the machine's clock had then been set back by as much.
      const later = Date.now() + 2 * hour
      await world.platform.database.transaction(async (q) => await q.watermarks.set('clock', later))
      const before = await countRows(world.server.database, ...tables)
      const server = await startServer({ database: world.server.database })

      expect((await call(server.url, 'GET', '/me', { token })).status).toBe(401)
      expect((await call(server.url, 'GET', '/oauth/me', { token: tokens.accessToken })).status).toBe(401)
      // The grant is still live: its refresh token has weeks left.
      const renewed = await refresh(server.url, world.app, tokens.refreshToken)
      expect(renewed.status).toBe(200)
      expect((await call(server.url, 'GET', '/oauth/me', { token: renewed.body.accessToken })).status).toBe(200)
      const fresh = await appToken(server.url, world.app.development)
      expect((await call(server.url, 'GET', '/me', { token: fresh })).status).toBe(200)
      expect(await server.stop()).toBe(0)
      const after = await countRows(world.server.database, ...tables)
      expect({ ...after, token_pairs: after['token_pairs'] ?? 0, app_tokens: after['app_tokens'] ?? 0 }).toEqual({
        ...before,
        token_pairs: (before['token_pairs'] ?? 0) + 1,
        app_tokens: (before['app_tokens'] ?? 0) + 1,
      })
      expect(await world.platform.database.queries.watermarks.find('clock')).toBeGreaterThanOrEqual(later)
      await world.platform.database.close()
    },
  )
})

const manyRows = rounds(2_000)

describe('during a running server', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(async () => await endWorld(world))

  test(
    `${manyRows} expired rows are purged while every request is answered`,
    async () => {
      const { server, app, platform, user } = world
      const token = await appToken(server.url, app.development)
      const credentialId =
        (await platform.database.queries.appTokens.find(timeKeyInDigits(token.slice(5, 27)) ?? -1))?.credentialId ?? ''
      await fillWithAppTokens(server.database, { count: manyRows, credentialId, createdAt: Date.now() - 2 * hour })
      const purging = { now: true }
      const took: number[] = []
      const statuses = new Set<number>()
      const using = (async () => {
        while (purging.now) {
          const askedAt = performance.now()
          statuses.add((await call(server.url, 'GET', '/me', { token })).status)
          statuses.add(
            (await call(server.url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } })).status,
          )
          took.push(performance.now() - askedAt)
          await Bun.sleep(2)
        }
      })()
      await purgeAll(
        platform,
        trace,
        async () => await Bun.sleep(0),
        () => false,
      )
      purging.now = false
      await using

      // The server's own purge may have had its share.
      expect(await countExpiredAppTokens(server.database, Date.now())).toBe(0)
      expect([...statuses]).toEqual([200])
      expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
      const session = await signIn(server.url, user)
      expect((await exchange(server.url, app, await authorize(server.url, session, app))).status).toBe(200)
      const slowest = took.toSorted((a, b) => b - a)
      if (manyRows > 50_000)
        console.log(`p99 ${slowest[Math.floor(slowest.length / 100)]} ms of ${slowest.length} rounds`)
    },
    patience,
  )
})

test('two purges at the same time remove each row once', async () => {
  const { platform, file, pass } = await platformAt()
  const app = await addApp(platform, await addUser(platform))
  const [credential] = await platform.database.queries.credentials.listByClient(app.development.clientId)
  await fillWithAppTokens(file, { count: 1_000, credentialId: credential?.id ?? '', createdAt: platform.clock.now() })
  pass(2 * hour)
  const beside: Platform = { ...(await openAsOperator(file)), clock: platform.clock }
  const results = await Promise.all(
    [platform, beside].map(
      async (each) =>
        await purgeAll(
          each,
          trace,
          async () => await Bun.sleep(0),
          () => false,
        ),
    ),
  )
  await beside.database.close()
  await platform.database.close()

  expect(results.reduce((sum, { app_tokens }) => sum + app_tokens, 0)).toBe(1_000)
})
