import { expect, test } from 'bun:test'
import { Database as SqliteDatabase } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Database, StoreHealth } from '../../db/database.ts'
import { createQueries } from '../../db/queries/index.ts'
import type { Door } from '../../src/http/door.ts'
import { baseApp, endpointRoutes } from '../../src/http/app.ts'
import { endpointsOf } from '../../src/http/table.ts'
import { watchConditionsJob } from '../../src/jobs/jobs.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { createLog } from '../../src/runtime/log.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { callWith, doorOf } from './support/door.ts'

const platform = await platformOfFile()

const answer = async (door: Door, path: string): Promise<Response> => {
  const app = baseApp(door.log, () => null).use(endpointRoutes(door, endpointsOf(door)))
  const request = new Request(`http://localhost${path}`)
  callWith(request)
  return await app.handle(request)
}
const statusOf = async (door: Door, path: string): Promise<number> => (await answer(door, path)).status

const withHealth = (database: Database, health: StoreHealth, queries = database.queries): Database => ({
  queries,
  transaction: async (work) => await database.transaction(work),
  node: database.node,
  leads: () => database.leads(),
  sharing: () => database.sharing(),
  time: () => database.time(),
  cluster: null,
  backups: null,
  renewPassword: null,
  health: () => health,
  explain: (error) => error,
  statistics: () => database.statistics(),
  keptTime: () => database.keptTime(),
  keepTime: (at) => database.keepTime(at),
  close: async () => await database.close(),
})

test('conditions that need a person make the server not ready, and are named in the answer, in the metrics and once in the log', async () => {
  const lines: string[] = []
  const log = createLog({ write: (line) => void lines.push(line), flush: () => undefined })
  const { clock, database } = platform
  let aheadMs = 31_000
  const troubled: Platform = {
    ...platform,
    clock: { ...clock, highWater: () => clock.wall() + aheadMs },
    database: withHealth(database, { writable: false, problem: 'full', reason: 'The disk is full: make room.' }),
  }
  const door = doorOf(troubled)
  const refused = await answer(door, '/readyz')
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ error: { details: { conditions: ['disk_full', 'clock_ahead'] } } })
  const text = await (await answer(door, '/metrics')).text()
  expect(text).toContain('app_platform_condition{name="disk_full"} 1')
  expect(text).toContain('app_platform_condition{name="clock_ahead"} 1')
  expect(text).toContain('app_platform_condition{name="storage_failed"} 0')

  const job = watchConditionsJob(troubled, null, log)
  await job.run(() => false)
  await job.run(() => false)
  aheadMs = 0
  await job.run(() => false)
  expect(lines.map((line) => JSON.parse(line)).map(({ event, kind, reason }) => [event, kind, reason])).toEqual([
    ['condition.began', 'disk_full', 'The disk is full: make room.'],
    ['condition.began', 'clock_ahead', expect.stringContaining('31 s behind')],
    ['condition.ended', 'clock_ahead', undefined],
  ])
})

test('a store that has failed and answers nothing is still reported in the metrics', async () => {
  const health: StoreHealth = { writable: false, problem: 'failed', reason: 'The disk failed.' }
  const withoutTables = createQueries(drizzle(new SqliteDatabase(':memory:')))
  const failed = withHealth(platform.database, health, withoutTables)
  const door = doorOf({ ...platform, database: failed })
  const text = await (await answer(door, '/metrics')).text()
  expect(text).toContain('app_platform_condition{name="storage_failed"} 1')
  expect(text).not.toMatch(/^app_platform_purge_lag_seconds /m)
})

test('a server that has begun to stop is alive, and not ready', async () => {
  const stopping = { ...doorOf(platform), draining: () => true }
  expect(await statusOf(doorOf(platform), '/readyz')).toBe(200)
  expect(await statusOf(stopping, '/readyz')).toBe(503)
  expect(await statusOf(stopping, '/healthz')).toBe(200)
})

test('a proxy is kept away only from a server that stops; other problems are answered by the server itself', async () => {
  const health: StoreHealth = { writable: false, problem: 'full', reason: 'The disk is full.' }
  const full = doorOf({ ...platform, database: withHealth(platform.database, health) })
  expect(await statusOf(full, '/readyz')).toBe(503)
  expect(await statusOf(full, '/readyz?for=proxy')).toBe(200)
  expect(await statusOf({ ...full, isDrainingForProxy: () => true }, '/readyz?for=proxy')).toBe(503)
  expect(await statusOf(full, '/readyz?for=anybody')).toBe(400)
})
