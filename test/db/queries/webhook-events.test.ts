import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { migrateFile } from '../../../db/migrate-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { createQueries, type Queries } from '../../../db/queries/index.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let database: Database
let queries: Queries
const statements: string[] = []
beforeAll(async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  await migrateFile(file, migrations)
  database = new Database(file)
  queries = createQueries(drizzle(database, { logger: { logQuery: (sql) => void statements.push(sql) } }))
})
afterAll(() => database.close())

const endpointId = 'whk_one'
const noon = 1_000_000

/** An event and its delivery, which is due at that moment; null when it was delivered. */
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

test('of what is due the oldest event comes next, and what waits, is done or is somebody else’s does not', async () => {
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

/** What an endpoint did not take, and is not tried again. */
const give = async (to: string): Promise<number> => {
  const position = await tell(noon, to, 'install.approved')
  const place = { position, endpointId: to, attempts: 0 }
  const failed = { ...place, state: 'failed', nextAttemptAt: null } as const
  await queries.webhookEvents.moveDelivery({ ...place, state: 'pending' }, failed)
  return position
}

test('what was given up is listed from one position on, and begins anew where it is asked to', async () => {
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

test('what waits for later is never gone through to find what is due', () => {
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
