import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout } from 'bun:test'
import { keepTimeJob, purgeJob } from '../../src/jobs/jobs.ts'
import { startScheduler } from '../../src/jobs/scheduler.ts'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { createWebhookSender } from '../../src/runtime/webhook-sender.ts'
import { call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { countExpiredAppTokens, countRows, fillWithAppTokens } from '../support/expired-rows.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { patience } from '../support/proof.ts'
import type { RunningServer } from '../support/running-server.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { networks } from '../support/webhook-world.ts'
import { appToken, createWorld, endWorld, type World } from '../support/world.ts'

const { test } = needs('openssl')

setDefaultTimeout(patience)

const change = (file: string, ...statements: readonly string[]): void => {
  using database = new Database(file, { readwrite: true, create: false })
  database.run('PRAGMA busy_timeout = 5000')
  database.run('PRAGMA legacy_alter_table = ON') // what refers to a table that is renamed for a while stays as it is
  for (const statement of statements) database.run(statement)
}

const hour = 3_600_000
const expiredTokens = 3
/** Rows that only the purge takes away: some that it will not be able to, and one of another kind. */
const addExpired = async ({ server, app, platform }: World): Promise<void> => {
  const [credential] = await platform.database.queries.credentials.listByClient(app.development.clientId)
  const createdAt = Date.now() - 2 * hour
  await fillWithAppTokens(server.database, { count: expiredTokens, credentialId: credential?.id ?? '', createdAt })
  change(
    server.database,
    "INSERT INTO idempotency_keys VALUES ('nobody', 'POST', '/versions', 'key', zeroblob(32), '{}', 1) ON CONFLICT DO NOTHING",
  )
}
const expired = async ({ server }: World) => ({
  tokens: await countExpiredAppTokens(server.database, Date.now() - hour / 2),
  keys: (await countRows(server.database, 'idempotency_keys'))['idempotency_keys'],
})

const statusOf = async ({ url }: RunningServer, path: string, token?: string): Promise<number> =>
  (await call(url, 'GET', path, token === undefined ? {} : { token })).status

const note = (counts: Map<string, number>, job: string) => void counts.set(job, (counts.get(job) ?? 0) + 1)

const broken = [
  "CREATE TRIGGER no_purge BEFORE DELETE ON app_tokens BEGIN SELECT RAISE(ABORT, 'not today'); END",
  "CREATE TRIGGER no_time BEFORE INSERT ON watermarks BEGIN SELECT RAISE(ABORT, 'not today'); END",
]
const mended = ['DROP TRIGGER no_purge', 'DROP TRIGGER no_time']

test('a job that keeps failing, hangs or waits for a lock stops no other job, lets no expired token through, and recovers', async () => {
  const world = await createWorld({ env: { LIFETIME_APP_TOKEN: '1' } })
  const { server, app, platform } = world
  const dead = await appToken(server.url, app.development)
  await addExpired(world)
  change(server.database, ...broken)
  const told = { done: new Map<string, number>(), failed: new Map<string, number>() }
  const purged = new Map<string, number>()
  const clock = async () => await platform.database.queries.watermarks.find('clock')
  const scheduler = startScheduler(
    [
      { ...purgeJob(platform, (kind, rows) => void purged.set(kind, rows)), periodMs: 10 },
      { ...keepTimeJob(platform), periodMs: 10 },
      { name: 'hanging', periodMs: 10, run: async () => await new Promise<never>(() => undefined) },
    ],
    { chance: () => 0, done: (job) => note(told.done, job), failed: (job) => note(told.failed, job), graceMs: 100 },
  )

  await eventually(
    async () => [told.failed.get('purge') ?? 0, told.failed.get('keep-time') ?? 0],
    (counts) => counts.every((count) => count > 1),
  )
  expect([...told.failed.keys()].toSorted()).toEqual(['keep-time', 'purge'])
  expect(told.done.size).toBe(0)
  expect(await expired(world)).toEqual({ tokens: expiredTokens, keys: 0 }) // what can be removed is, and counted
  expect([...purged]).toEqual([['idempotency_keys', 1]])
  expect(
    await eventually(
      async () => await statusOf(server, '/me', dead),
      (status) => status === 401,
    ),
  ).toBe(401)
  expect(await statusOf(server, '~/readyz')).toBe(200)

  change(server.database, ...mended)
  await eventually(
    async () => told.done,
    (done) => done.has('purge') && done.has('keep-time'),
  )
  expect(await expired(world)).toEqual({ tokens: 0, keys: 0 })
  const kept = (await clock()) ?? 0
  expect(kept).toBeGreaterThan(0)

  const holder = new Database(server.database, { readwrite: true, create: false })
  holder.run('PRAGMA busy_timeout = 5000')
  holder.run('BEGIN IMMEDIATE')
  await Bun.sleep(100) // for the work before it
  const before = new Map(told.done)
  await Bun.sleep(300)
  expect(told.done).toEqual(before)
  expect(await statusOf(server, '/me', dead)).toBe(401)
  holder.run('ROLLBACK')
  holder.close()
  const wentOn = (job: string) => (told.done.get(job) ?? 0) > (before.get(job) ?? 0)
  await eventually(
    async () => [wentOn('purge'), wentOn('keep-time')],
    (both) => !both.includes(false),
  )
  expect([wentOn('purge'), wentOn('keep-time')]).toEqual([true, true])
  expect(await clock()).toBeGreaterThan(kept)
  await scheduler.stop() // although one hangs
  await endWorld(world)
})

const lastLook = async ({ url }: RunningServer): Promise<number> =>
  Number(
    /^app_platform_job_last_success_timestamp_seconds\{task="webhooks"\} (\S+)/m.exec(
      (await call(url, 'GET', '~/metrics')).text,
    )?.[1],
  )

test('a server that cannot read its deliveries logs it, serves and stays ready, and sends them once it can; a lock does not keep it from stopping', async () => {
  const receiver = await startReceiver()
  const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority }
  const world = await createWorld({ env })
  const { server, app } = world
  const webhooks = createWebhookSender({ resolve: async () => [], allowed: networks('127.0.0.0/8'), timeoutMs: 5_000 })
  const platform = { ...world.platform, webhooks }
  const place = { slug: app.slug, environment: 'development' } as const
  await addEndpoint(platform, trace, operator, { ...place, url: receiver.url, kinds: ['credential.created'] })

  change(server.database, 'ALTER TABLE webhook_deliveries RENAME TO away')
  const failures = () => server.log().split('"event":"webhook.failed"').length - 1
  await eventually(
    async () => failures(),
    (count) => count > 1,
  )
  expect(failures()).toBeGreaterThan(1)
  const stuckSince = await lastLook(server)
  expect(await statusOf(server, '~/readyz')).toBe(200)
  expect(await statusOf(server, '/me', await appToken(server.url, app.development))).toBe(200)

  change(server.database, 'ALTER TABLE away RENAME TO webhook_deliveries')
  await createCredential(platform, trace, operator, { ...place, label: null })
  await eventually(
    async () => receiver.received.length,
    (count) => count > 0,
  )
  expect(receiver.received.map(({ type }) => type)).toEqual(['credential.created'])
  expect(await lastLook(server)).toBeGreaterThan(stuckSince)
  await receiver.down()
  await platform.database.close()

  const holder = new Database(server.database, { readwrite: true, create: false })
  holder.run('PRAGMA busy_timeout = 5000')
  holder.run('BEGIN IMMEDIATE')
  expect(await server.stop()).toBe(0)
  holder.run('ROLLBACK')
  holder.close()
  expect(server.log()).toMatch(/"event":"job.failed","job":"keep-time"/)
  expect(server.log()).toContain('"event":"server.stopped"')
})
