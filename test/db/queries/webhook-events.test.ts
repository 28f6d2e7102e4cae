import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { migrateFile } from '../../../db/migrate.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { type AttemptQuestion, createQueries, type Queries } from '../../../db/queries/index.ts'
import { uuidTimeOfRecordId } from '../../../src/domain/identifier.ts'
import { webhookHistoryMs } from '../../../src/domain/webhook-delivery.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let database: Database
let queries: Queries
const statements: string[] = []
beforeAll(async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  await migrateFile(file, migrations)
  database = new Database(file)
  const prepare = database.prepare.bind(database)
  database.prepare = (sql: string) => {
    statements.push(sql)
    return prepare(sql)
  }
  queries = createQueries(drizzle(database))
})
afterAll(() => database.close())

const endpointId = 'whk_one'
const noon = 1_000_000

/** Adds an event and its delivery, which is due at that time; null if it was delivered. */
const tell = async (
  nextAttemptAt: number | null,
  to = endpointId,
  kind: 'ping' | 'install.approved' = 'ping',
): Promise<number> => {
  const event = { id: crypto.randomUUID(), appId: 'app', environment: 'development', kind, data: {} } as const
  const position = await queries.webhookEvents.put(event, noon)
  const state = nextAttemptAt === null ? ('delivered' as const) : ('pending' as const)
  await queries.webhookEvents.putDelivery({ position, endpointId: to, state, attempts: 0, nextAttemptAt })
  return position
}
const nextAt = async (now: number) => (await queries.webhookEvents.nextDue(endpointId, now))?.event.position ?? null

test('the oldest due event comes next, and deliveries that wait, are done or belong to another endpoint do not', async () => {
  await tell(null)
  await tell(noon - 50, 'whk_other')
  const retried = await tell(noon + 20)
  const fresh = await tell(noon)
  await tell(noon + 1)
  expect(await nextAt(noon - 1)).toBeNull()
  expect(await nextAt(noon)).toBe(fresh)
  expect(await nextAt(noon + 19)).toBe(fresh)
  expect(await nextAt(noon + 20)).toBe(retried)
})

/** Adds a failed delivery, which is not tried again. */
const give = async (to: string): Promise<number> => {
  const position = await tell(noon, to, 'install.approved')
  const place = { position, endpointId: to, attempts: 0 }
  const failed = { ...place, state: 'failed', nextAttemptAt: null } as const
  await queries.webhookEvents.moveDelivery({ ...place, state: 'pending' }, failed)
  return position
}

test('a delivery changes alone: not that of another event, nor to another endpoint', async () => {
  const [first, second] = [await tell(noon, 'whk_one_of_two'), await tell(noon, 'whk_one_of_two')]
  const place = { position: first, endpointId: 'whk_one_of_two', attempts: 0 }
  const pending = { ...place, state: 'pending', nextAttemptAt: noon } as const
  await queries.webhookEvents.putDelivery({ ...pending, endpointId: 'whk_other_of_two' })
  await queries.webhookEvents.moveDelivery(pending, { ...place, state: 'delivered', nextAttemptAt: null })
  const found = [
    await queries.webhookEvents.findDelivery(first, 'whk_one_of_two'),
    await queries.webhookEvents.findDelivery(second, 'whk_one_of_two'),
    await queries.webhookEvents.findDelivery(first, 'whk_other_of_two'),
  ]
  expect(found.map((delivery) => delivery?.state)).toEqual(['delivered', 'pending', 'pending'])
})

test('failed deliveries are listed after a position, and only the chosen ones are restarted', async () => {
  const [first = 0, second = 0, third = 0] = [await give('whk_down'), await give('whk_down'), await give('whk_down')]
  const shared = { position: second, endpointId: 'whk_also', attempts: 9, nextAttemptAt: null }
  await queries.webhookEvents.putDelivery({ ...shared, state: 'failed' })
  const failed = async (after: number, to = 'whk_down') => await queries.webhookEvents.failedPositions(to, after, 10)
  expect([await failed(0), await failed(first), await failed(third)]).toEqual([
    [first, second, third],
    [second, third],
    [],
  ])
  expect(await queries.webhookEvents.restart('whk_down', [second], noon)).toBe(1)
  expect([await failed(0), await failed(0, 'whk_also')]).toEqual([[first, third], [second]])
})

const since = async (id: string, after = 0) => await queries.webhookEvents.positionsSince('whk_late', id, after, 10)

test('events since a given one are that one and every later one, each once', async () => {
  const positions = [await give('whk_late'), await give('whk_late'), await give('whk_late')]
  const rows = positions.map((position, index) => ({ position, id: `evt_~${index}` }))
  for (const { id, position } of rows) {
    database.run('UPDATE webhook_events SET id = ? WHERE position = ?', [id, position])
  }
  expect([await since('evt_~1'), await since('evt_~0', positions[1])]).toEqual([positions.slice(1), positions.slice(2)])
})

const everything: AttemptQuestion = { outcome: null, kind: null, since: null, until: null }
const listed = async (before: string, question: Partial<AttemptQuestion> = {}) =>
  (await queries.webhookAttempts.pageOfEndpoint(endpointId, { ...everything, ...question }, before, 10)).map(
    ({ id }) => id,
  )

const attempt = {
  endpointId,
  eventId: 'evt_1',
  kind: 'ping',
  at: noon,
  durationMs: 1,
  status: 200,
  error: null,
  answer: '',
  url: null,
  sentHeaders: null,
  answerHeaders: null,
}

test('attempts before a given one are listed newest first and removed oldest first', async () => {
  for (const id of ['att_1', 'att_2', 'att_3']) await queries.webhookAttempts.insert({ ...attempt, id })
  await queries.webhookAttempts.insert({ ...attempt, endpointId: 'whk_other', id: 'att_4' })
  expect(await listed('att_3')).toEqual(['att_2', 'att_1'])
  const before = 0x28_0000_0000_00 + webhookHistoryMs // IDs begin with the time; this one is between two of them
  const purged = async (limit: number) => await queries.expiring.remove('webhook_attempts', before, limit)
  expect([await purged(1), await listed('~')]).toEqual([1, ['att_3', 'att_2']])
  expect([await purged(10), await listed('~')]).toEqual([1, ['att_3']])
})

const found = async (question: Partial<AttemptQuestion>) =>
  (await queries.webhookAttempts.pageOfEndpoint('whk_asked', { ...everything, ...question }, '~', 10)).map(
    ({ id }) => id,
  )

test('attempts are found by outcome, kind and time', async () => {
  const of = { ...attempt, endpointId: 'whk_asked' }
  const rows = [
    { ...of, id: 'att_5', status: 204 },
    { ...of, id: 'att_6', status: 302, kind: 'install.created' },
    { ...of, id: 'att_7', status: null, error: 'timed_out', at: noon + 1 },
  ] as const
  for (const row of rows) await queries.webhookAttempts.insert(row)
  expect(await found({ outcome: 'delivered' })).toEqual(['att_5'])
  expect(await found({ outcome: 'refused' })).toEqual(['att_6'])
  expect(await found({ outcome: 'unanswered' })).toEqual(['att_7'])
  expect(await found({ kind: 'ping' })).toEqual(['att_7', 'att_5'])
  expect(await found({ since: noon + 1 })).toEqual(['att_7'])
  expect(await found({ until: noon + 1, outcome: 'refused' })).toEqual(['att_6'])
  expect(await found({ since: noon, until: noon })).toEqual([])
})

const forget = async (before: number, limit = 10) => await queries.expiring.remove('webhook_secrets', before, limit)
const left = async () => (await queries.webhookEndpoints.liveSecrets('whk_signed', 0)).map(({ id }) => id)

test('a signing secret is removed at the end of its grace period, the earliest first', async () => {
  const secret = { endpointId: 'whk_signed', secret: new Uint8Array(32), createdAt: noon }
  for (const [id, expiresAt] of [
    ['current', null],
    ['second', noon + 1],
    ['first', noon],
  ] as const) {
    await queries.webhookEndpoints.insertSecret({ ...secret, id, expiresAt })
  }
  expect([await forget(noon), await forget(noon + 2, 1), await left()]).toEqual([0, 1, ['second', 'current']])
  expect([await forget(noon + 2), await left()]).toEqual([1, ['current']])
})

test('the oldest events before a given one are removed with their deliveries and no others', async () => {
  const ids = database.query<{ id: string }, []>('SELECT id FROM webhook_events ORDER BY id').all()
  const deliveries = () => database.query('SELECT position FROM webhook_deliveries ORDER BY position').all()
  const [first, second] = [await queries.webhookEvents.find(ids[0]?.id ?? ''), ids[1]?.id ?? '']
  const before = deliveries()
  expect(await queries.webhookEvents.purge((uuidTimeOfRecordId(second) ?? 0) + webhookHistoryMs, 1)).toBe(1)
  expect(await queries.webhookEvents.find(first?.id ?? '')).toBeNull()
  expect(await queries.webhookEvents.find(second)).not.toBeNull()
  expect(deliveries()).toEqual(
    before.filter((row) => JSON.stringify(row) !== JSON.stringify({ position: first?.position })),
  )
})

test('finding due deliveries never reads those that wait for a later time', () => {
  const asked = statements.find((sql) => sql.includes('longest_due')) ?? ''
  const plan = database
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${asked}`)
    .all()
    .map(({ detail }) => detail)
  const looks = plan.filter((line) => line.includes('webhook_deliveries'))
  expect(looks).toEqual([
    expect.stringMatching(/COVERING INDEX webhook_deliveries_due \(endpoint_id=\? AND next_attempt_at<\?\)/),
    expect.stringMatching(/PRIMARY KEY \(position=\? AND endpoint_id=\?\)/),
  ])
})

const addEndpoint = async (id: string, reason: 'gone' | 'failing' | null): Promise<void> => {
  const status = reason === null ? ('enabled' as const) : ('disabled' as const)
  const times = { failingSince: null, createdAt: noon, updatedAt: noon }
  const place = { appId: 'app', environment: 'development', url: 'https://hooks.example', kinds: 'ping' } as const
  database.run('PRAGMA foreign_keys = OFF')
  await queries.webhookEndpoints.insert({ id, ...place, status, reason, ...times })
}

test('due deliveries to enabled endpoints are counted up to a limit, from the index, and disabled endpoints by reason', async () => {
  await addEndpoint('whk_counted', null)
  await addEndpoint('whk_gone', 'gone')
  await addEndpoint('whk_failing', 'failing')
  for (const due of [noon, noon, noon, noon + 60]) await tell(due, 'whk_counted')
  await tell(noon, 'whk_gone')
  statements.length = 0
  expect(await queries.webhookEndpoints.countDue(noon, 10)).toBe(3)
  expect(await queries.webhookEndpoints.countDue(noon, 2)).toBe(2)
  expect(await queries.webhookEndpoints.countDue(noon + 60, 10)).toBe(4)
  const plan = database.query<{ detail: string }, [number, number]>(`EXPLAIN QUERY PLAN ${statements[0]}`).all(noon, 10)
  expect(plan.map(({ detail }) => detail).join('\n')).toContain(
    'webhook_deliveries_due (endpoint_id=? AND next_attempt_at<?)',
  )
  expect(await queries.webhookEndpoints.countDisabled()).toEqual({ by_hand: 0, gone: 1, failing: 1 })
})
