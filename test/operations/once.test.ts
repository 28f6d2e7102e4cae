import { expect, test } from 'bun:test'
import { type ErrorCode, PlatformError } from '../../src/domain/errors.ts'
import { once, type RepeatableRequest } from '../../src/operations/once.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { refusalOf } from './support/owner.ts'

const platform = await platformOfFile()

const now = Date.UTC(2026, 7, 1)
const dayMs = 24 * 3_600_000
const bodyHash = new Uint8Array(32).fill(1)
let keys = 0
const requestWith = (change: Partial<RepeatableRequest> = {}): RepeatableRequest => {
  keys += 1
  return { principal: 'crd_1', method: 'POST', path: '/versions', key: `key-${keys}`, bodyHash, ...change }
}

/** Work that counts how often it was prepared and done. */
const counted = () => {
  const count = { prepared: 0, done: 0 }
  const run = async (request: RepeatableRequest | null, where = platform, at = now) =>
    await once(where, {
      request,
      now: at,
      prepare: async () => void (count.prepared += 1),
      work: async () => ({ number: (count.done += 1) }),
    })
  return { count, run }
}
/** Another process on the same store. It does not know which requests are running here. */
const elsewhere = (): Platform => ({ ...platform, running: new Set() })

test('a repeat gets the first answer, and nothing is prepared or done for it', async () => {
  const { count, run } = counted()
  const request = requestWith()
  expect(await run(request)).toEqual({ value: { number: 1 }, replayed: false })
  expect(await run(request)).toEqual({ value: { number: 1 }, replayed: true })
  expect(count).toEqual({ prepared: 1, done: 1 })
})

test('two processes that get the request at the same time act once', async () => {
  const { count, run } = counted()
  const request = requestWith()
  const answers = await Promise.all([run(request), run(request, elsewhere()), run(request, elsewhere())])
  expect(answers.map(({ value }) => value)).toEqual([{ number: 1 }, { number: 1 }, { number: 1 }])
  expect(answers.map(({ replayed }) => replayed).toSorted()).toEqual([false, true, true])
  expect(count.done).toBe(1)
})

test('a repeat while the first request is running is refused', async () => {
  const { count, run } = counted()
  const request = requestWith()
  const [first, second] = await Promise.all([refusalOf(run(request)), refusalOf(run(request))])
  expect([first, second]).toEqual(['done', 'idempotency_in_progress'])
  expect(count.done).toBe(1)
  expect((await run(request)).replayed).toBe(true)
})

test('another body under the same key is refused and does nothing', async () => {
  const { count, run } = counted()
  const request = requestWith()
  await run(request)
  const other = { ...request, bodyHash: new Uint8Array(32).fill(2) }
  expect(await refusalOf(run(other))).toBe('idempotency_key_reused')
  expect(count.done).toBe(1)
})

test('a key is valid for one caller, method and path, and for a day', async () => {
  const { count, run } = counted()
  const request = requestWith()
  await run(request)
  for (const change of [{ principal: 'crd_2' }, { method: 'PUT' }, { path: '/versions/rollback' }]) {
    expect((await run({ ...request, ...change })).replayed).toBe(false)
  }
  expect((await run(request, platform, now + dayMs - 1)).replayed).toBe(true)
  expect((await run(request, platform, now + dayMs)).replayed).toBe(false)
  expect(count.done).toBe(5)
})

test('a request without a key acts every time', async () => {
  const { count, run } = counted()
  await run(null)
  await run(null)
  expect(count).toEqual({ prepared: 2, done: 2 })
})

/** Refuses twice under one key and returns the second refusal. */
const again = async (code: ErrorCode) => {
  const request = requestWith()
  const attempt = async () =>
    await once(platform, { request, now, work: async () => new PlatformError(code) }).catch((error: unknown) => error)
  expect(await attempt()).toMatchObject({ code, facts: {} })
  return await attempt()
}

test('a permanent refusal is stored, a temporary one is not', async () => {
  for (const code of ['version_locked', 'activation_not_allowed', 'version_not_found', 'payload_too_large'] as const) {
    expect(await again(code)).toMatchObject({ code, facts: { replayed: true } })
  }
  for (const code of ['invalid_request', 'invalid_token', 'rate_limited', 'unavailable'] as const) {
    expect(await again(code)).toMatchObject({ code, facts: {} })
    expect(await again(code)).not.toMatchObject({ facts: { replayed: true } })
  }
})
