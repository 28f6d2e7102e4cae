import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { dayMs, dayOf, hourMs } from '../../src/domain/count.ts'
import { deleteApp } from '../../src/operations/apps/apps.ts'
import { recordId } from '../../src/domain/identifier.ts'
import { countAll, readActivity } from '../../src/operations/counts/counts.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll, purgeBatch } from '../../src/operations/purge/purge.ts'
import { issueInstallSessionCode, exchangeInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { countRows, fillWithAppTokens } from '../support/expired-rows.ts'
import { addFamily } from '../support/grant-family.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { sessionOf } from './support/owner.ts'

let file: string
let platform: Platform
let user: Login
let app: AppInWorld
let credentialId: string
beforeEach(async () => {
  file = join(temporaryFolder(), 'counts.db')
  platform = await openAsOperator(file)
  user = await addUser(platform)
  app = await addApp(platform, user)
  const { clientId } = app.production
  credentialId = (await platform.database.queries.credentials.listByClient(clientId))[0]?.id ?? ''
})
afterEach(async () => await platform.database.close())

const minute = 60_000
const now = () => platform.clock.now()
/** The same platform at another time. */
const at = (moment: number, on = platform): Platform => ({
  ...on,
  clock: { ...on.clock, now: () => moment, purgeBefore: () => moment },
})
const nothing = async () => undefined
const count = async (on: Platform) => await countAll(on, nothing, () => false)
const purge = async (on: Platform) => await purgeAll(on, trace, nothing, () => false)
const totals = async (on: Platform) => (await readActivity(on, { appId: app.id }, null)).total
const issue = async (tokens: number, createdAt: number) =>
  await fillWithAppTokens(file, { count: tokens, credentialId, createdAt })

/** The start of a day that is far enough away for everything in it to be counted and merged. */
const daysAgo = (days: number): number => dayOf(now()) - days * dayMs
/** An attempt at the endpoint, as a delivery leaves it. */
const call = async (endpointId: string, moment: number, status: number | null, kind = 'credential.created') => {
  const id = recordId('att_', platform.random.uuid(moment))
  const exchange = { url: null, sentHeaders: null, answerHeaders: null, answer: '', error: null }
  const attempt = { id, endpointId, eventId: 'evt_1', kind, at: moment, durationMs: 5, status, ...exchange }
  await platform.database.transaction(async (q) => await q.webhookAttempts.insert(attempt))
}
const stored = async () => await countRows(file, 'hourly_counts', 'daily_users')

test('a token that is issued and purged counts once, and its row goes only after it was counted', async () => {
  await issue(3, now() - 3 * hourMs)
  await count(at(now() - 2.5 * hourMs))
  await issue(4, now() - 2 * hourMs)
  const cursor = { afterGrantId: '' }
  expect(await purgeBatch(platform, trace, 'app_tokens', cursor)).toEqual({ removed: 3, finished: true })
  expect((await totals(platform)).tokens).toBe(3)
  const { app_tokens: removed } = await purge(platform)
  expect(removed).toBe(4)
  await count(platform)
  await purge(at(now() + dayMs))
  expect((await totals(platform)).tokens).toBe(7)
})

test('a family of user tokens counts each exchange and refresh once, and stays until it is counted', async () => {
  const { expiresAt } = await addFamily(platform, app, user, 5)
  expect((await purge(at(expiresAt))).grants).toBe(0) // it expired within the two minutes that counting waits
  const later = at(expiresAt + 5 * minute)
  expect((await purge(later)).grants).toBe(7)
  await count(later)
  expect(await totals(later)).toMatchObject({ tokens: 5, active_users: 1 })
})

test('of several servers that count at once, each token counts once', async () => {
  await issue(2_500, now() - hourMs)
  const other = await openAsOperator(file)
  await Promise.all([count(platform), count(other), count(platform), purge(other)])
  await other.database.close()
  expect((await totals(platform)).tokens).toBe(2_500)
})

test('counting that ends after any part goes on there, and neither loses nor doubles a token', async () => {
  await issue(1_500, now() - 3 * hourMs)
  await issue(1_500, now() - hourMs / 2)
  let pauses = 0
  await countAll(
    platform,
    async () => void (pauses += 1),
    () => pauses === 1,
  )
  const part = (await totals(platform)).tokens
  expect([part > 0, part < 3_000]).toEqual([true, true])
  const restarted = await openAsOperator(file)
  await count(restarted)
  await restarted.database.close()
  expect((await totals(platform)).tokens).toBe(3_000)
})

test('what may still be committed with an earlier key is not passed over', async () => {
  await issue(1, now() - 10 * minute)
  await count(platform)
  await issue(1, now() - minute) // by a server whose clock is behind, say
  await count(platform)
  expect((await totals(platform)).tokens).toBe(1)
  await count(at(now() + 2 * minute))
  expect((await totals(platform)).tokens).toBe(2)
})

test('a clock that goes back counts nothing again', async () => {
  await issue(6, now() - hourMs)
  await count(platform)
  await count(at(now() - 2 * hourMs))
  await count(platform)
  expect((await totals(platform)).tokens).toBe(6)
})

test('the first run counts what there still is of the last forty days', async () => {
  await issue(1, now() - 45 * dayMs)
  await issue(2, daysAgo(29) + hourMs)
  await issue(4, now() - hourMs)
  await purge(platform)
  const { byDay, total, latest } = await readActivity(platform, { memberId: user.id }, 'production')
  expect([total.tokens, byDay.tokens.length, byDay.tokens[0]?.count, latest.tokens]).toEqual([6, 30, 2, 4])
  expect((await readActivity(platform, { memberId: user.id }, 'development')).total.tokens).toBe(0)
})

test('a user counts once a day for each app and environment, whatever brought them', async () => {
  const friend = await addUser(platform)
  for (const days of [5, 4]) {
    for (const hour of [1, 2, 20]) {
      const moment = daysAgo(days) + hour * hourMs
      await addFamily(at(moment), app, user, 2)
      await count(at(moment + 10 * minute))
    }
  }
  await addFamily(at(daysAgo(4) + 21 * hourMs), app, friend, 1)
  await addFamily(at(daysAgo(4) + 22 * hourMs), await addApp(platform, user), user, 1)
  await count(platform)
  const { byDay } = await readActivity(platform, { appId: app.id }, null)
  expect(byDay.active_users.slice(-6).map((row) => row.count)).toEqual([1, 2, 0, 0, 0, 0])
  expect((await readActivity(platform, { memberId: user.id }, null)).total.active_users).toBe(4)
})

test('who opens an app in a frame is an active user', async () => {
  const install = await addEmbeddedInstall(platform, app, user)
  const session = await sessionOf(platform, user)
  const { code } = await issueInstallSessionCode(platform, trace, session, install)
  const request = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
  await exchangeInstallSessionCode(platform, trace, request)
  const later = at(now() + 5 * minute)
  await count(later)
  const { total } = await readActivity(later, { appId: app.id }, 'production')
  expect([total.active_users, total.installs]).toEqual([1, 1])
})

test('calls of webhook endpoints count as accepted or failed, and pings do not count', async () => {
  const environment = 'development'
  const url = 'https://hooks.example/'
  const open = { ...platform, webhooks: { ...platform.webhooks, check: async () => null } }
  const kinds = ['credential.created']
  const { id } = await addEndpoint(open, trace, operator, { slug: app.slug, environment, url, kinds })
  for (const status of [200, 204, 299, 302, 500, null]) await call(id, now(), status)
  await call(id, now(), 500, 'ping')
  const later = at(now() + 5 * minute)
  await count(later)
  expect(await totals(later)).toMatchObject({ webhook_successes: 3, webhook_failures: 3 })
})

test('the hours of a day become one row, and counts go after forty days, without a change of what is shown', async () => {
  for (const hour of [0, 5, 23]) await issue(2, daysAgo(3) + hour * hourMs)
  await issue(1, daysAgo(0) - hourMs)
  await addFamily(at(daysAgo(3) + hourMs), app, user, 1)
  await count(platform)
  const before = await readActivity(platform, { appId: app.id }, null)
  expect(await stored()).toEqual({ hourly_counts: 3 + 1 + 2, daily_users: 1 })
  await purge(platform)
  await purge(platform)
  expect(await readActivity(platform, { appId: app.id }, null)).toEqual(before)
  expect(await stored()).toEqual({ hourly_counts: 1 + 1 + 2, daily_users: 0 })
  await purge(at(now() + 41 * dayMs))
  expect(await stored()).toEqual({ hourly_counts: 0, daily_users: 0 })
})

test('the counts of a deleted app go with it, and are not shown to its owner before', async () => {
  await addFamily(platform, app, user, 1)
  await count(at(now() + 5 * minute))
  await deleteApp(platform, trace, operator, app.slug)
  expect((await readActivity(platform, { memberId: user.id }, null)).total.tokens).toBe(0)
  await purge(at(now() + 8 * dayMs))
  expect(await stored()).toEqual({ hourly_counts: 0, daily_users: 0 })
})
