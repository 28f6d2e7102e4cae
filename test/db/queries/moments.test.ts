import { beforeAll, expect, test } from 'bun:test'
import { timeKeyAt } from '../../../src/domain/time-key.ts'
import type { Queries } from '../../../db/database.ts'
import { hashSecret } from '../../../src/domain/secret.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { developmentCaller, sessionOf } from '../../operations/support/owner.ts'
import { addFamily } from '../../support/grant-family.ts'
import { trace } from '../../support/operator.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../../support/world.ts'

// Everything ends at the millisecond of its expiry, not earlier.

const platform = await platformOfFile()
let q: Queries
let user: Login
let app: AppInWorld
beforeAll(async () => {
  q = platform.database.queries
  user = await addUser(platform)
  app = await addApp(platform, user)
})

const write = async <T>(work: (writing: Queries) => Promise<T>) => await platform.database.transaction(work)
/** Whether the newest row counts as live. */
const counts = async (kind: 'liveAppTokens' | 'liveSessions' | 'liveGrants', now: number) =>
  (await q.health[kind](now, 1)).count

test('a grant has expired for every query at the millisecond of its expiry', async () => {
  const { expiresAt } = await addFamily(platform, app, user, 1)
  const { clientId } = app.development
  const seenAt = async (now: number) => [
    (await q.grants.liveScopes(user.id, clientId, now)).length,
    (await q.connectedApps.countByScopes(user.id, now)).length,
    (await q.connectedApps.grantsOf(user.id, clientId, { now, before: '~', limit: 10 })).length,
    await counts('liveGrants', now),
  ]
  expect([await seenAt(expiresAt - 1), await seenAt(expiresAt)]).toEqual([
    [1, 1, 1, 1],
    [0, 0, 0, 0],
  ])
})

test('a session has expired for every query at the millisecond of its expiry', async () => {
  const { sessionKey } = await sessionOf(platform, user)
  const expiresAt = (await q.sessions.find(sessionKey))?.session.expiresAt ?? 0
  const seenAt = async (now: number) => [
    (await q.sessions.openOfUser(user.id, { now, usedAfter: 0, before: '~', limit: 10 })).length,
    await counts('liveSessions', now),
  ]
  expect([await seenAt(expiresAt - 1), await seenAt(expiresAt)]).toEqual([
    [1, 1],
    [0, 0],
  ])
})

test('an app token has expired at the millisecond of its expiry', async () => {
  const { tokenKey } = await developmentCaller(platform, app)
  const expiresAt = (await q.appTokens.find(tokenKey))?.expiresAt ?? 0
  expect([await counts('liveAppTokens', expiresAt - 1), await counts('liveAppTokens', expiresAt)]).toEqual([1, 0])
})

test('unused artifacts and kept outcomes are removed after their time, not at it', async () => {
  const name = { principal: 'crd_1', method: 'POST', path: '/versions', key: 'k' }
  await write(async (writing) => {
    await writing.artifacts.insert({ sha256: hashSecret('unused'), sizeBytes: 0, createdAt: 1_000 })
    await writing.idempotency.keep({ ...name, bodyHash: hashSecret('body'), outcome: '{}', expiresAt: 1_000 })
  })
  const removedAt = async (moment: number) =>
    await write(async (writing) => [
      await writing.artifacts.purgeUnused(moment, 10),
      await writing.expiring.remove('idempotency_keys', moment, 10),
    ])
  expect([await removedAt(1_000), await removedAt(1_001), await removedAt(1_001)]).toEqual([
    [0, 0],
    [1, 1],
    [0, 0],
  ])
})

/** An audit event. */
const refusal = {
  ...trace,
  actorKind: 'anonymous',
  actorId: null,
  appId: null,
  environment: null,
  target: null,
  action: 'sign_in',
  outcome: 'refused',
  reason: 'invalid_login',
  detail: null,
} as const

test('the trail since a time includes that very millisecond, also for issued tokens', async () => {
  const at = Date.UTC(2027, 0)
  const key = timeKeyAt(at)
  const [credential] = await q.credentials.listByClient(app.development.clientId)
  const grant = await addFamily(platform, app, user, 0)
  const shared = { ...trace, key, createdAt: at, scopes: 'site:read' }
  await write(async (writing) => {
    const token = { ...shared, credentialId: credential?.id ?? '', hash: hashSecret('token') }
    await writing.appTokens.insert({ ...token, expiresAt: at + 1, revokedAt: null })
    const pair = { ...shared, grantKey: grant.key, previousKey: grant.currentKey, accessExpiresAt: at + 1 }
    const hashes = { accessHash: hashSecret('access'), refreshHash: hashSecret('refresh') }
    await writing.grants.insertPair({ ...pair, ...hashes, refreshExpiresAt: at + 1 })
    await writing.audit.insert({ ...refusal, id: 'aud_1', at })
  })
  const since = async (moment: number) =>
    (await q.audit.list({ appId: null, since: moment, limit: 10 })).map(({ action }) => action).toSorted()
  expect([await since(at), await since(at + 1)]).toEqual([['app_token.issued', 'sign_in', 'user_tokens.issued'], []])
})

test('events of one millisecond are listed in the order of their IDs, issued tokens among them', async () => {
  const at = Date.UTC(2028, 0)
  const [credential] = await q.credentials.listByClient(app.development.clientId)
  const token = { ...trace, key: timeKeyAt(at), credentialId: credential?.id ?? '', hash: hashSecret('token') }
  await write(async (writing) => {
    await writing.appTokens.insert({ ...token, scopes: '', createdAt: at, expiresAt: at + 1, revokedAt: null })
    for (const id of ['aud_00', 'aud_ff']) await writing.audit.insert({ ...refusal, id, at })
  })
  const events = await q.audit.list({ appId: null, since: at, limit: 10 })
  expect(events.map(({ id }) => id.slice(0, 6))).toEqual(['aud_00', 'aud_01', 'aud_ff'])
})
