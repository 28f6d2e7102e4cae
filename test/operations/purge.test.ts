import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { countingDelayMs } from '../../src/domain/count.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll, purgeBatch } from '../../src/operations/purge/purge.ts'
import { purgeLagSeconds } from '../../src/operations/health/health.ts'
import { auditEvents } from '../support/audit-events.ts'
import { countRows, fillWithAppTokens } from '../support/expired-rows.ts'
import { addFamily, pairOf } from '../support/grant-family.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, exchangeBody, type Login } from '../support/world.ts'
import { sessionOf, unspentTicket } from './support/owner.ts'

const hour = 3_600_000
let file: string
let platform: Platform
let user: Login
let app: AppInWorld
beforeEach(async () => {
  file = join(temporaryFolder(), 'purge.db')
  platform = await openAsOperator(file)
  user = await addUser(platform)
  app = await addApp(platform, user)
})
afterEach(async () => await platform.database.close())

/** Purges as of this moment; counts the pauses between batches, and stops in the given one. */
const purge = async (before: number, endAfter = Number.POSITIVE_INFINITY) => {
  const then = { ...platform, clock: { ...platform.clock, purgeBefore: () => before } }
  let pauses = 0
  const told: Record<string, number> = {}
  const removed = await purgeAll(
    then,
    trace,
    async () => void (pauses += 1),
    () => pauses >= endAfter,
    (kind, rows) => void (told[kind] = (told[kind] ?? 0) + rows),
  )
  expect(told).toEqual(Object.fromEntries(Object.entries(removed).filter(([, rows]) => rows > 0)))
  return { removed, pauses }
}
const purged = async (kind = 'grants.purged') =>
  (await auditEvents(platform)).filter(({ action }) => action === kind).map(({ detail }) => JSON.parse(detail ?? ''))

test('the purge pauses between two batches, and a stopped purge removes nothing more', async () => {
  const credentialId = (await platform.database.queries.credentials.listByClient(app.production.clientId))[0]?.id ?? ''
  const createdAt = platform.clock.now() - 3 * hour
  await fillWithAppTokens(file, { count: 700, credentialId, createdAt })
  const stopped = await purge(platform.clock.now(), 1)
  expect([stopped.removed.app_tokens, stopped.pauses]).toEqual([250, 1])
  const rest = await purge(platform.clock.now())
  expect([rest.removed.app_tokens, rest.pauses]).toEqual([450, 1])
  const issued = (await purged('app_tokens.purged')).map((detail) => detail.issued[credentialId])
  expect(issued).toEqual([250, 250, 200]) // a token's row was the record of its issue
})

test('the purge lag is the time since the oldest expired row should have been removed', async () => {
  const lagAt = async (moment: number) =>
    await purgeLagSeconds({ ...platform, clock: { ...platform.clock, purgeBefore: () => moment } })
  const createdAt = platform.clock.now() - 3 * hour
  expect(await lagAt(createdAt + 100 * hour)).toBe(0)
  const credentialId = (await platform.database.queries.credentials.listByClient(app.production.clientId))[0]?.id ?? ''
  await fillWithAppTokens(file, { count: 1, credentialId, createdAt })
  await Bun.sleep(2) // what another connection commits is seen after a millisecond
  expect([await lagAt(createdAt), await lagAt(createdAt + hour)]).toEqual([0, 0])
  expect(await lagAt(createdAt + hour + 7_000)).toBe(7)
})

test('webhook events are removed in smaller batches, because each has several deliveries', async () => {
  const now = platform.clock.now()
  await platform.database.transaction(async (q) => {
    for (let count = 0; count < 26; count += 1) {
      const event = { id: `evt_${platform.random.uuidHex(now)}`, appId: app.id, environment: 'development' } as const
      await q.webhookEvents.put({ ...event, kind: 'install.created', data: {} }, now)
    }
  })
  const { removed, pauses } = await purge(now + 31 * 24 * hour, 1)
  expect([removed.webhook_events, pauses]).toEqual([25, 1])
})

test('retry salts, sessions and spent tickets are removed once they cannot be used any more', async () => {
  const session = await sessionOf(platform, user)
  const now = platform.clock.now()
  await platform.database.transaction(async (q) => await q.formTickets.spend(unspentTicket(platform), now))
  for (const retryKey of ['retry-1', null]) {
    const { code } = await authorize(platform, trace, session, authorizeBody(app), true)
    const { refreshToken } = await exchangeCode(platform, trace, exchangeBody(app, code), retryKey)
    if (retryKey === null) {
      await refreshTokens(platform, trace, { ...app.development, refreshToken, scope: null }, null)
    }
  }
  const nothing = { retry_salts: 0, sessions: 0, form_tickets: 0 }
  expect((await purge(now)).removed).toMatchObject(nothing)
  expect((await purge(now + hour)).removed).toMatchObject({ ...nothing, retry_salts: 2 })
  expect((await purge(now + 13 * hour)).removed).toMatchObject({ ...nothing, sessions: 1, form_tickets: 1 })
})

test('a kind that cannot be removed does not stop the others, but the purge fails', async () => {
  await addFamily(platform, app, user, 0)
  let batches = 0
  const purgeBefore = () => {
    batches += 1
    if (batches === 1) throw new Error('no token can be removed')
    return platform.clock.now() + 365 * 24 * hour
  }
  const failing = { ...platform, clock: { ...platform.clock, purgeBefore } }
  const told: string[] = []
  const purging = purgeAll(
    failing,
    trace,
    async () => undefined,
    () => false,
    (kind) => void told.push(kind),
  )
  expect(await purging.catch(({ message }) => message)).toBe('no token can be removed')
  expect(told).toEqual(['grants', 'retry_salts'])
})

test('an expired outcome is removed, and an unexpired one of another caller with the same key stays', async () => {
  const now = platform.clock.now()
  const name = { method: 'POST', path: '/versions', key: 'retry-1' }
  const outcome = { bodyHash: new Uint8Array(32), outcome: '{}' }
  await platform.database.transaction(async (q) => {
    await q.idempotency.keep({ ...name, ...outcome, principal: 'crd_1', expiresAt: now - 1 })
    await q.idempotency.keep({ ...name, ...outcome, principal: 'crd_2', expiresAt: now })
  })
  expect((await purge(now)).removed.idempotency_keys).toBe(1)
  const found = async (principal: string) => await platform.database.queries.idempotency.find({ ...name, principal })
  expect([await found('crd_1'), (await found('crd_2'))?.expiresAt]).toEqual([null, now])
})

test('expired families are removed and counted in audit events, even one that is too large for a batch', async () => {
  const families = [await addFamily(platform, app, user, 0), await addFamily(platform, app, user, 1)]
  families.push(await addFamily(platform, app, user, 300), await addFamily(platform, app, user, 2))
  const [first, last] = [families[0]?.expiresAt ?? 0, families[3]?.expiresAt ?? 0]
  expect((await purge(first - 1)).removed.grants).toBe(0)
  expect(await purged()).toEqual([])
  expect((await purge(last + countingDelayMs)).removed.grants).toBe(2 + 3 + 302 + 4)
  const { clientId } = app.development
  expect(await purged()).toEqual([
    { families: 2, issued: { [clientId]: 1 + 243 } },
    { families: 2, issued: { [clientId]: 57 + 2 } },
  ])
  expect(await countRows(file, 'grants', 'authorization_codes', 'token_pairs')).toEqual({
    grants: 0,
    authorization_codes: 0,
    token_pairs: 0,
  })
})

test('a family without issued tokens is counted for no client', async () => {
  const { expiresAt } = await addFamily(platform, app, user, 0)
  await purge(expiresAt + countingDelayMs)
  expect(await purged()).toEqual([{ families: 1, issued: {} }])
})

test('a family that is refreshed just before its removal stays, and no event is left', async () => {
  const family = await addFamily(platform, app, user, 1)
  const { database } = platform
  const transaction: typeof database.transaction = async (work) => {
    const step = { ...family, expiresAt: family.expiresAt + hour }
    const pair = pairOf(platform, family, platform.random.timeKey(platform.clock.now()), family.currentKey)
    await database.transaction(async (q) => await q.grants.advance(pair, step))
    return await database.transaction(work)
  }
  const then = { ...platform.clock, purgeBefore: () => family.expiresAt }
  const going = { ...platform, clock: then, database: Object.create(database, { transaction: { value: transaction } }) }
  expect(await purgeBatch(going, trace, 'grants', { afterGrantId: '' })).toMatchObject({ removed: 0, finished: false })
  expect(await database.queries.grants.byId(family.id)).toMatchObject({ expiresAt: family.expiresAt + hour })
  expect(await purged()).toEqual([])
})
