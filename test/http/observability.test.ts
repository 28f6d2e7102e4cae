import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import type { Door } from '../../src/http/door.ts'
import { errorHandling } from '../../src/http/errors.ts'
import { rememberContext } from '../../src/http/request-context.ts'
import { observabilityRoutes } from '../../src/http/routes/observability.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { openAsOperator } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { contextFrom, doorOf } from './support/door.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'ready.db'))
})
afterAll(async () => await platform.database.close())

const statusOf = async (door: Door, path: string): Promise<number> => {
  const app = new Elysia().use(errorHandling(door.log, () => null)).use(observabilityRoutes(door))
  const request = new Request(`http://localhost${path}`)
  rememberContext(request, contextFrom('local'))
  return (await app.handle(request)).status
}

test('a server that has begun to stop is alive, and not ready', async () => {
  const stopping = { ...doorOf(platform), draining: () => true }
  expect(await statusOf(doorOf(platform), '/readyz')).toBe(200)
  expect(await statusOf(stopping, '/readyz')).toBe(503)
  expect(await statusOf(stopping, '/healthz')).toBe(200)
})
