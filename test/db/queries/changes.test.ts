import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Queries } from '../../../db/database.ts'
import { rowKey } from '../../../src/domain/identifier.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { sessionOf } from '../../operations/support/owner.ts'
import { addFamily } from '../../support/grant-family.ts'
import { openAsOperator } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser } from '../../support/world.ts'
import { addSide, rowsIn, type Side } from '../support/two-sides.ts'

// Two of everything stand beside each other: a change of one must leave the other as it was.

const file = join(temporaryFolder(), 'changes.db')
let platform: Platform
let one: Side
beforeAll(async () => {
  platform = await openAsOperator(file)
  one = await addSide(platform)
  await addSide(platform)
})
afterAll(async () => await platform.database.close())

/** The rows that are other ones after the change, or gone. */
const changedBy = async (change: (q: Queries) => Promise<unknown>): Promise<readonly string[]> => {
  const before = rowsIn(file)
  await platform.database.transaction(change)
  const after = rowsIn(file)
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key))
    .toSorted()
}

const now = Date.UTC(2027, 0)
const content = {
  notes: 'x',
  manifest: '{}',
  scopes: '',
  artifactSha256: null,
  artifactFilename: null,
  artifactSizeBytes: null,
}
type Step = readonly [name: string, change: (q: Queries) => Promise<unknown>, changed: () => readonly string[]]
const steps: readonly Step[] = [
  ['a name', async (q) => await q.apps.rename(one.app.id, 'Renamed', now), () => [`apps ${one.app.id}`]],
  ['scopes', async (q) => await q.apps.setScopes(one.app.id, '', now), () => [`apps ${one.app.id}`]],
  ['a suspension', async (q) => await q.apps.setStatus(one.app.id, 'suspended', now), () => [`apps ${one.app.id}`]],
  [
    'a head',
    async (q) => await q.apps.setDevelopmentVersion(one.app.id, one.draft, now + 1),
    () => [`apps ${one.app.id}`],
  ],
  ['a right', async (q) => await q.users.setOperator(one.user.id, true, now), () => [`users ${one.user.id}`]],
  ['a user', async (q) => await q.users.setStatus(one.user.id, 'disabled', now), () => [`users ${one.user.id}`]],
  [
    'a password',
    async (q) => {
      const hash = (await q.users.byId(one.user.id))?.passwordHash ?? ''
      expect(await q.users.replacePassword(one.user.id, 'another', 'new', now)).toBe(false)
      expect(await q.users.replacePassword(one.user.id, hash, 'new', now)).toBe(true)
    },
    () => [`users ${one.user.id}`],
  ],
  [
    'a use of a secret',
    async (q) => await q.credentials.touch(one.credential, now),
    () => [`credentials ${one.credential}`],
  ],
  ['a grace', async (q) => await q.credentials.setExpiry(one.credential, now), () => [`credentials ${one.credential}`]],
  [
    'a secret',
    async (q) => {
      expect(await q.credentials.revoke(one.credential, now)).toBe(true)
      expect(await q.credentials.revoke(one.credential, now)).toBe(false)
    },
    () => [`credentials ${one.credential}`],
  ],
  [
    'an app token',
    async (q) =>
      expect([await q.appTokens.revoke(one.token, now), await q.appTokens.revoke(one.token, now)]).toEqual([
        true,
        false,
      ]),
    () => [`app_tokens ${one.token}`],
  ],
  [
    'a redirect URI',
    async (q) => await q.redirectUris.remove(one.app.redirectUri, one.app.development.clientId),
    () => [`redirect_uris ${one.app.redirectUri}`],
  ],
  [
    "another client's redirect URI",
    async (q) => await q.redirectUris.remove(one.app.liveRedirectUri, one.app.development.clientId),
    () => [],
  ],
  ['a draft', async (q) => await q.versions.replaceDraft(one.draft, 2, content, now), () => [`versions ${one.draft}`]],
  [
    'a submission',
    async (q) => await q.versions.move(one.draft, ['draft'], 'submitted', { submittedAt: now }, now),
    () => [`versions ${one.draft}`],
  ],
  ['a draft that is none', async (q) => await q.versions.replaceDraft(one.draft, 3, content, now), () => []],
  ['a status that is another', async (q) => await q.versions.move(one.draft, ['draft'], 'active', {}, now), () => []],
  [
    'scopes of an install',
    async (q) => await q.installs.setScopes(one.install, '', now),
    () => [`installs ${one.install}`],
  ],
  [
    'a step of an install',
    async (q) => {
      const [approved, active] = [{ approval: 'approved' } as const, { state: 'active' } as const]
      expect(
        await q.installs.move(one.install, { ...approved, state: 'inactive' }, { ...approved, ...active }, now),
      ).toBe(false)
      expect(
        await q.installs.move(one.install, { approval: 'pending', ...active }, { ...approved, ...active }, now),
      ).toBe(false)
      await q.installs.move(one.install, { ...approved, ...active }, { ...approved, state: 'inactive' }, now)
    },
    () => [`installs ${one.install}`],
  ],
  [
    'a code for a frame',
    async (q) =>
      expect([await q.embedding.spendCode(one.code, now), await q.embedding.spendCode(one.code, now)]).toEqual([
        true,
        false,
      ]),
    () => [`install_session_codes ${one.code}`],
  ],
  ['a retry', async (q) => await q.grants.closeRetry(one.grants[0].id), () => [`grants ${one.grants[0].id}`]],
  ['a grant', async (q) => await q.grants.revoke(one.grants[0].id, now), () => [`grants ${one.grants[0].id}`]],
  [
    'the grants of a user for one client',
    async (q) => {
      const part = { after: '', limit: 10 }
      expect(await q.grants.revokeOfUser(one.user.id, one.app.production.clientId, now, part)).toEqual([])
      await q.grants.revokeOfUser(one.user.id, one.app.development.clientId, now, part)
    },
    () => [`grants ${one.grants[1].id}`],
  ],
  [
    'where an endpoint stands',
    async (q) => await q.webhookEndpoints.setStatus(one.endpoint, { status: 'disabled', reason: 'by_hand' }, now),
    () => [`webhook_endpoints ${one.endpoint}`],
  ],
  [
    'since when it fails',
    async (q) => await q.webhookEndpoints.setFailingSince(one.endpoint, now),
    () => [`webhook_endpoints ${one.endpoint}`],
  ],
  [
    'a delivery',
    async (q) => {
      const place = { position: one.position, endpointId: one.endpoint }
      const after = { ...place, state: 'failed', attempts: 1, nextAttemptAt: null } as const
      await q.webhookEvents.moveDelivery({ ...place, state: 'delivered', attempts: 0 }, after)
      await q.webhookEvents.moveDelivery({ ...place, state: 'pending', attempts: 7 }, after)
      expect((await q.webhookEvents.findDelivery(one.position, one.endpoint))?.state).toBe('pending')
      await q.webhookEvents.moveDelivery({ ...place, state: 'pending', attempts: 0 }, after)
    },
    () => [`webhook_deliveries ${one.position} ${one.endpoint}`],
  ],
  [
    'a delivery that begins anew',
    async (q) => await q.webhookEvents.restart(one.endpoint, [one.position], now),
    () => [`webhook_deliveries ${one.position} ${one.endpoint}`],
  ],
  [
    'the end of a signing secret',
    async (q) => await q.webhookEndpoints.setSecretExpiry(one.secret, now),
    () => [`webhook_secrets ${one.secret}`],
  ],
  [
    'an endpoint, removed with its secrets,',
    async (q) => await q.webhookEndpoints.remove(one.endpoint),
    () => [`webhook_endpoints ${one.endpoint}`, `webhook_secrets ${one.secret}`],
  ],
  [
    'a session, by its own user alone and once',
    async (q) => {
      const [key] = one.sessions
      expect(await q.sessions.endOfUser('usr_other', key, now)).toBe(false)
      expect([
        await q.sessions.endOfUser(one.user.id, key, now),
        await q.sessions.endOfUser(one.user.id, key, now),
      ]).toEqual([true, false])
      expect(await q.sessions.end(key, now)).toBe(false)
    },
    () => [`sessions ${one.sessions[0]}`],
  ],
  [
    'all other sessions of a user',
    async (q) => {
      expect(await q.sessions.endOthersOfUser(one.user.id, one.sessions[1], now)).toBe(0)
      expect(await q.sessions.endOthersOfUser(one.user.id, one.sessions[0], now)).toBe(1)
    },
    () => [`sessions ${one.sessions[1]}`],
  ],
]

test.each(steps)('a change of %s changes that row and no other', async (_, change, changed) => {
  expect(await changedBy(change)).toEqual(changed().toSorted())
})

test('all sessions of a user end together, and those of nobody else', async () => {
  const fresh = [await addUser(platform), await addUser(platform)]
  const keys = await Promise.all(fresh.map(async (user) => (await sessionOf(platform, user)).sessionKey))
  const own = fresh[0]?.id ?? ''
  expect(await changedBy(async (q) => await q.sessions.endAllOfUser(own, now))).toEqual([`sessions ${keys[0]}`])
  expect(await changedBy(async (q) => await q.sessions.end(keys[1] ?? '', now))).toEqual([`sessions ${keys[1]}`])
})

test('an outcome is kept in the place of its own name alone', async () => {
  const name = { principal: 'crd_1', method: 'POST', path: '/versions', key: 'k' }
  const kept = { bodyHash: new Uint8Array(32), outcome: '{}', expiresAt: now }
  const others = [{ principal: 'crd_2' }, { method: 'PUT' }, { path: '/other' }, { key: 'l' }]
  await platform.database.transaction(async (q) => {
    for (const other of [{}, ...others]) await q.idempotency.keep({ ...name, ...other, ...kept })
  })
  const again = async (q: Queries) => await q.idempotency.keep({ ...name, ...kept, outcome: '[]' })
  expect(await changedBy(again)).toEqual(['idempotency_keys crd_1 POST /versions k'])
})

test('retries are closed when their minute is over, at most so many', async () => {
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  const grants = [await addFamily(platform, app, user, 0), await addFamily(platform, app, user, 0)]
  const until = Math.max(...grants.map(({ retryUntil }) => retryUntil ?? 0))
  const close = async (before: number, limit: number) =>
    (await changedBy(async (q) => await q.grants.closeRetries(before, limit))).filter((row) =>
      grants.some(({ id }) => row.endsWith(id)),
    )
  await close(0, 250)
  expect(await close((grants[0]?.retryUntil ?? 0) - 1, 250)).toEqual([])
  await close(until, 250)
  for (const { id } of grants) expect((await platform.database.queries.grants.byId(id))?.retrySalt).toBeNull()
})

test('a ticket is spent once, and keys are told apart', async () => {
  const keys = [rowKey(platform.random.uuid(now)), rowKey(platform.random.uuid(now))]
  const spend = async (key = '') =>
    await platform.database.transaction(async (q) => await q.formTickets.spend(key, now))
  expect([await spend(keys[0]), await spend(keys[0]), await spend(keys[1])]).toEqual([true, false, true])
})
