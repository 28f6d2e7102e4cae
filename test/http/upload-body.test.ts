import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { errorHandling } from '../../src/http/errors.ts'
import { rememberContext } from '../../src/http/request-context.ts'
import { uploadBody } from '../../src/http/upload-body.ts'
import { createLog } from '../../src/runtime/log.ts'
import { contextFrom } from './support/door.ts'

const log = createLog({ write: () => undefined, flush: () => undefined })
const openApp = () =>
  new Elysia()
    .use(errorHandling(log, () => null))
    .use(uploadBody(Type.Object({ a: Type.Integer() })))
    .post('/', async ({ body }) => body)

/** An upload of so many bytes that began so long ago: what it is answered, and what lets go of what it holds. */
const upload = (app: Pick<Elysia, 'handle'>, sizeBytes = 0, milliseconds = 0) => {
  const request = new Request('http://localhost/', { method: 'POST', body: '{"a":1}'.padEnd(sizeBytes) })
  const startedAt = performance.now() - milliseconds
  const context = { ...contextFrom('local'), bodyLimitBytes: 2 ** 24, startedAt }
  rememberContext(request, context)
  const answer = app.handle(request).then(async (response) => [response.status, JSON.parse(await response.text())])
  return { answer, letGo: () => context.release?.(), holds: () => context.release !== null }
}
const taken = [200, { a: 1 }]
const [small, large] = [256 * 1024, 256 * 1024 + 1]

afterEach(() => mock.restore())

test('an upload that is still arriving after five minutes is told to come back', async () => {
  const app = openApp()
  expect(await upload(app, 0, 290_000).answer).toEqual(taken)
  expect(await upload(app, 0, 300_001).answer).toMatchObject([503, { error: { code: 'unavailable' } }])
})

test('four uploads of more than 256 KiB are taken at a time; the next one waits, twenty seconds at most', async () => {
  const app = openApp()
  const timers = spyOn(globalThis, 'setTimeout')
  const four = Array.from({ length: 4 }, () => upload(app, large))
  for (const { answer } of four) expect(await answer).toEqual(taken)
  const fifth = upload(app, large)
  const beside = upload(app, small)
  expect(await beside.answer).toEqual(taken)
  expect([beside.holds(), fifth.holds()]).toEqual([false, false])
  expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual([20_000])
  four[0]?.letGo()
  expect(await fifth.answer).toEqual(taken)
})

test('others have a turn after every 128 KiB of an upload', async () => {
  const turns = spyOn(globalThis, 'setImmediate')
  expect(await upload(openApp(), 8 * 128 * 1024).answer).toEqual(taken)
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(8)
})
