import { describe, expect, test } from 'bun:test'
import type { AuditEvent } from '../../db/database.ts'
import { auditEvent } from '../../src/operations/audit/event.ts'
import { createRefusalLog, type RefusalLog } from '../../src/operations/audit/refusal-log.ts'

const minute = 60_000
/** A refusal at this moment, in milliseconds from zero. */
const refusal = (at: number, facts: Partial<AuditEvent> = {}): AuditEvent => ({
  ...auditEvent(
    { id: `aud_${at}`, at, requestId: 'req_0', address: '203.0.113.9' },
    { actor: { kind: 'anonymous' }, action: 'bearer.check', refusedWith: 'invalid_token' },
  ),
  ...facts,
})
/** How many of `count` refusals are recorded one by one. */
const rowsOf = (log: RefusalLog, count: number, at = 0, facts: Partial<AuditEvent> = {}): number =>
  Array.from({ length: count }, () => log.admit(refusal(at, facts))).filter(Boolean).length
const taken = (log: RefusalLog, now: number) =>
  log.take(now).map(({ event: { appId, target }, repeated, from, to }) => ({ repeated, from, to, appId, target }))

describe('a refusal of one kind from one address', () => {
  test('is recorded for the first hundred of a minute, and then counted until the minute ends', () => {
    const log = createRefusalLog()
    expect([rowsOf(log, 100), rowsOf(log, 50, 1_000), rowsOf(log, 1, minute - 1)]).toEqual([100, 0, 0])
    expect(taken(log, minute - 1)).toEqual([])
    expect(taken(log, minute)).toEqual([{ repeated: 51, from: 1_000, to: minute - 1, appId: null, target: null }])
    expect(taken(log, 10 * minute)).toEqual([])
  })

  test('is not recorded in the minutes after one with too many while that continues', () => {
    const log = createRefusalLog()
    rowsOf(log, 101)
    for (let each = 1; each < 5; each += 1) {
      expect([rowsOf(log, 101, each * minute), log.take((each + 1) * minute).length]).toEqual([0, 1])
    }
    expect([rowsOf(log, 50, 5 * minute), rowsOf(log, 50, 6 * minute)]).toEqual([0, 50])
  })

  test('is counted separately by action, reason, address and authenticated client', () => {
    const log = createRefusalLog()
    rowsOf(log, 200)
    for (const facts of [
      { action: 'session.create' },
      { reason: 'login_required' },
      { address: '203.0.113.10' },
      { actorKind: 'app', actorId: 'apc_dev_1' },
      { actorKind: 'app', actorId: 'apc_dev_2' },
    ] as const) {
      expect(rowsOf(log, 200, 0, facts)).toBe(100)
    }
  })

  test('is not counted by what the caller claimed, because the time taken would tell which apps exist', () => {
    const log = createRefusalLog()
    rowsOf(log, 100, 0, { appId: 'app_1' })
    expect(rowsOf(log, 10, 0, { appId: 'app_2' })).toBe(0)
  })

  test('is counted by network for IPv6', () => {
    const log = createRefusalLog()
    rowsOf(log, 100, 0, { address: '2001:db8:1:2::1' })
    expect(rowsOf(log, 1, 0, { address: '2001:db8:1:2:ffff::2' })).toBe(0)
    rowsOf(log, 1, 0, { address: '2001:db8:1:2::3' })
    expect(log.take(minute)[0]?.event.address).toBe('2001:db8:1:2::/64')
  })
})

describe('counted refusals', () => {
  test('are in the trail of each app, and name a target only if all have it in common', () => {
    const log = createRefusalLog()
    rowsOf(log, 100)
    rowsOf(log, 3, 0, { appId: 'app_1', target: 'grt_1' })
    rowsOf(log, 2, 0, { appId: 'app_2', target: 'grt_2' })
    rowsOf(log, 1, 0, { appId: 'app_2', target: 'grt_3' })
    expect(taken(log, minute)).toEqual([
      { repeated: 3, from: 0, to: 0, appId: 'app_1', target: 'grt_1' },
      { repeated: 3, from: 0, to: 0, appId: 'app_2', target: null },
    ])
  })

  test('are in no app’s trail if there are too many apps, and none is lost', () => {
    const log = createRefusalLog()
    rowsOf(log, 100)
    for (let app = 0; app < 50; app += 1) rowsOf(log, 1, 0, { appId: `app_${app}`, target: `grt_${app}` })
    const counts = taken(log, minute)
    expect(counts.length).toBe(5)
    expect(counts.at(-1)).toMatchObject({ repeated: 46, appId: null, target: null })
  })

  test('that could not be written are added to the next ones', () => {
    const log = createRefusalLog()
    rowsOf(log, 103)
    log.putBack(log.take(minute))
    rowsOf(log, 2, minute)
    expect(taken(log, 2 * minute)).toEqual([{ repeated: 5, from: 0, to: minute, appId: null, target: null }])
  })

  test('may be refusals that are never recorded one by one', () => {
    const log = createRefusalLog()
    log.count(refusal(0))
    log.count(refusal(5))
    expect(rowsOf(log, 200, 10)).toBe(100)
    expect(log.take(Number.POSITIVE_INFINITY).map(({ repeated }) => repeated)).toEqual([102])
  })
})

const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

test('a thousand addresses are counted separately and the others together, so that memory and rows are bounded', () => {
  const log = createRefusalLog()
  let rows = 0
  for (let index = 0; index < 20_000; index += 1) rows += rowsOf(log, 1, 0, { address: address(index) })
  expect(rows).toBe(1_024 + 100)
  for (let index = 0; index < 20_000; index += 1) log.count(refusal(0, { address: address(index) }))
  const counts = log.take(minute)
  expect(counts.length).toBe(1_024 + 1)
  expect(counts.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(20_000 - rows + 20_000)
  expect(new Set(counts.map(({ event }) => event.address)).has('several')).toBe(true)
  expect(rowsOf(log, 1, 2 * minute, { address: address(19_999) })).toBe(1)
})

test('a clock that was set back starts a new minute', () => {
  const log = createRefusalLog()
  expect([rowsOf(log, 100, 10 * minute), rowsOf(log, 100, minute)]).toEqual([100, 100])
})
