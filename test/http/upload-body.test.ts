import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { baseApp, endpointRoutes } from '../../src/http/app.ts'
import type { HttpConnection } from '../../src/http/call.ts'
import { endpoint, uploadBody } from '../../src/http/endpoint.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { callWith, doorOf } from './support/door.ts'

const platform = await platformOfFile()

const openApp = () => {
  const upload = endpoint({
    method: 'POST',
    path: '/',
    body: uploadBody(Type.Object({ a: Type.Integer() })),
    answers: { 200: Type.Object({ a: Type.Integer() }) },
    run: (_, __, { body }) => body,
  })
  const door = doorOf(platform)
  return baseApp(door.log, () => null).use(endpointRoutes(door, [upload]))
}

type App = ReturnType<typeof openApp>

/** An upload of this size that began this long ago: its answer, and the function that frees what it holds. */
const upload = (app: App, sizeBytes = 0, milliseconds = 0, by = 'somebody', connection: HttpConnection | null = null) =>
  uploadOf(app, '{"a":1}'.padEnd(sizeBytes), milliseconds, by, connection)
const uploadOf = (
  app: App,
  body: string | ReadableStream,
  milliseconds = 0,
  by = 'somebody',
  connection: HttpConnection | null = null,
) => {
  const request = new Request('http://localhost/', { method: 'POST', body })
  const startedAt = performance.now() - milliseconds
  const call = callWith(request, { address: `address of ${by}`, bodyLimitBytes: 2 ** 24, startedAt, connection })
  call.notes.appId = by
  const answer = app.handle(request).then(async (response) => [response.status, JSON.parse(await response.text())])
  return { answer, letGo: () => call.release?.(), holds: () => call.release !== null }
}
const taken = [200, { a: 1 }]
const [small, large] = [256 * 1024, 256 * 1024 + 1]

afterEach(() => mock.restore())

test('an upload that is still arriving after five minutes is refused', async () => {
  const app = openApp()
  expect(await upload(app, 0, 290_000).answer).toEqual(taken)
  expect(await upload(app, 0, 300_001).answer).toMatchObject([503, { error: { code: 'unavailable' } }])
})

test('two uploads of one app that exceed 256 KiB run at a time; the next one waits up to twenty seconds, and one of another app does not', async () => {
  const app = openApp()
  const timers = spyOn(globalThis, 'setTimeout')
  const two = Array.from({ length: 2 }, () => upload(app, large))
  for (const { answer } of two) expect(await answer).toEqual(taken)
  timers.mockClear()
  const third = upload(app, large)
  const beside = upload(app, small)
  expect(await beside.answer).toEqual(taken)
  expect([beside.holds(), third.holds()]).toEqual([false, false])
  const waits = timers.mock.calls.map(([, milliseconds]) => milliseconds)
  expect(waits.filter((milliseconds = 0) => milliseconds > 10_000)).toEqual([20_000])
  expect(await upload(app, large, 0, 'another').answer).toEqual(taken)
  expect(third.holds()).toBe(false)
  two[0]?.letGo()
  expect(await third.answer).toEqual(taken)
})

test('the connection of a large upload may be idle until the answer: what has arrived may keep the server busy', async () => {
  const allowed: number[] = []
  const connection = { timeout: (_: Request, seconds: number) => void allowed.push(seconds) }
  const app = openApp()
  expect(await upload(app, small, 0, 'small', connection).answer).toEqual(taken)
  expect(allowed).toEqual([])
  const { answer, letGo } = upload(app, large, 0, 'large', connection)
  expect(await answer).toEqual(taken)
  expect(allowed).toEqual([0])
  letGo()
  expect(allowed).toEqual([0, 30])
})

/** A body that sends these bytes and then nothing, and whether it is still being read. */
const stalledAfter = (bytes: number) => {
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(bytes).fill(32)),
    cancel: () => void (isCancelled = true),
  })
  return { stream, isCancelled: () => isCancelled }
}

test('a body that falls ten seconds behind 16 KiB a second is refused with 400, and its slot is free again', async () => {
  const app = openApp()
  const lags: number[] = []
  const { setTimeout } = globalThis
  const timers = spyOn(globalThis, 'setTimeout').mockImplementation(((late: () => void, milliseconds: number) => {
    if (milliseconds !== 10_000) return setTimeout(late, milliseconds) // a timer of other code in this process
    lags.push(milliseconds)
    if (lags.length === 2) queueMicrotask(late) // the second wait is for bytes that never arrive
    return 0
  }) as unknown as typeof setTimeout)
  const body = stalledAfter(large)
  const { answer, letGo } = uploadOf(app, body.stream)
  expect(await answer).toMatchObject([
    400,
    { error: { code: 'invalid_request', message: 'The body arrived at less than 16 KiB a second.' } },
  ])
  expect(lags).toEqual([10_000, 10_000]) // fast bytes before do not allow a longer silence later
  expect(body.isCancelled()).toBe(true)
  timers.mockRestore()
  letGo()
  const two = Array.from({ length: 2 }, () => upload(app, large))
  for (const { answer: next } of two) expect(await next).toEqual(taken)
})

test('other requests have a turn after every 128 KiB of an upload', async () => {
  const turns = spyOn(globalThis, 'setImmediate')
  expect(await upload(openApp(), 8 * 128 * 1024).answer).toEqual(taken)
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(8)
})
