import { expect, test } from 'bun:test'
import { timeKeyAt } from '../../src/domain/time-key.ts'
import { decideContinuation, retryWindowMs } from '../../src/domain/grant.ts'

const now = Date.UTC(2026, 7, 1)
const salt = new Uint8Array(32).fill(7)
const request = new Uint8Array(32).fill(1)
const otherRequest = new Uint8Array(32).fill(2)

const [first, second] = [timeKeyAt(now), timeKeyAt(now + 1)]
/** Continued from `first` to `second` by a request that may be repeated. */
const grant = {
  clientId: 'apc_dev_a',
  currentKey: second,
  revokedAt: null,
  retryKey: first,
  retrySalt: salt,
  retryFingerprint: request,
  retryUntil: now + retryWindowMs,
}
const presented = { key: first, clientId: 'apc_dev_a', expired: false, userActive: true, fingerprint: request }
const kindOf = (
  changedGrant: Partial<Parameters<typeof decideContinuation>[0]>,
  changed: Partial<typeof presented> | { fingerprint: null },
  moment = now,
) => decideContinuation({ ...grant, ...changedGrant }, { ...presented, ...changed }, moment).kind

test('the current secret of a grant continues it, for its own client and an active user, while it has not expired', () => {
  const current = { key: second }
  expect(kindOf({}, current)).toBe('continue')
  expect(kindOf({}, { ...current, clientId: 'apc_live_a' })).toBe('refused')
  expect(kindOf({}, { ...current, expired: true })).toBe('refused')
  expect(kindOf({}, { ...current, userActive: false })).toBe('refused')
  expect(kindOf({ revokedAt: now }, current)).toBe('refused')
})

test('a repeated request gets the same answer until the window closes', () => {
  expect(decideContinuation(grant, presented, now)).toEqual({ kind: 'replay', salt })
  expect(kindOf({}, {}, now + retryWindowMs - 1)).toBe('replay')
  expect(kindOf({}, {}, now + retryWindowMs)).toBe('reused')
})

test('a spent secret is reuse with another request, without a key, or when it is not the one before', () => {
  expect(kindOf({}, { fingerprint: otherRequest })).toBe('reused')
  expect(kindOf({}, { fingerprint: null })).toBe('reused')
  expect(kindOf({}, { key: timeKeyAt(now - 1) })).toBe('reused')
})

test('a spent secret is reuse when the last request could not be repeated, or its salt is erased', () => {
  const unrepeatable = { retryKey: null, retrySalt: null, retryFingerprint: null, retryUntil: null }
  expect(kindOf(unrepeatable, {})).toBe('reused')
  for (const lost of Object.keys(unrepeatable)) expect(kindOf({ [lost]: null }, {})).toBe('reused')
})

test('a retry by another client, of a revoked grant or for a disabled user is refused, and does not count as reuse', () => {
  expect(kindOf({}, { clientId: 'apc_live_a' })).toBe('refused')
  expect(kindOf({ revokedAt: now }, {})).toBe('refused')
  expect(kindOf({}, { userActive: false })).toBe('refused')
})
