import { expect, test } from 'bun:test'
import { timeKeyAt } from '../../src/domain/time-key.ts'
import { decideContinuation, keyedRetryMs } from '../../src/domain/grant.ts'

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
  retryUntil: now + keyedRetryMs,
}
/** The same by a request without a key. */
const withoutKey = { ...grant, retryFingerprint: null }
const retryOf = (fingerprint: Uint8Array | null) => ({ fingerprint, windowMs: keyedRetryMs })
const presented = {
  key: first,
  clientId: 'apc_dev_a',
  expired: false,
  mayBeContinued: true,
  retry: retryOf(request),
}
type Grant = Parameters<typeof decideContinuation>[0]
type Presented = Parameters<typeof decideContinuation>[1]
const kindOf = (changedGrant: Partial<Grant>, changed: Partial<Presented>, moment = now) => {
  const decision = decideContinuation({ ...grant, ...changedGrant }, { ...presented, ...changed }, moment)
  return decision.kind === 'spent' ? (decision.salt === null ? 'reused' : 'repeat') : decision.kind
}

test('the current secret of a grant continues it, for its own client, while both may be continued', () => {
  const current = { key: second }
  expect(kindOf({}, current)).toBe('continue')
  expect(kindOf({}, { ...current, clientId: 'apc_live_a' })).toBe('refused')
  expect(kindOf({}, { ...current, expired: true })).toBe('refused')
  expect(kindOf({}, { ...current, mayBeContinued: false })).toBe('refused')
  expect(kindOf({ revokedAt: now }, current)).toBe('refused')
})

test('a repeated request gets the same answer until the window closes', () => {
  for (const [of, retry] of [
    [grant, retryOf(request)],
    [withoutKey, retryOf(null)],
  ] as const) {
    expect(decideContinuation(of, { ...presented, retry }, now)).toEqual({ kind: 'spent', salt })
    expect(kindOf(of, { retry, expired: true })).toBe('repeat')
    expect(kindOf(of, { retry }, now + keyedRetryMs - 1)).toBe('repeat')
    expect(kindOf(of, { retry }, now + keyedRetryMs)).toBe('reused')
    expect(kindOf(of, { retry: null })).toBe('reused')
  }
})

test('what was sent with a key is repeated with that key, and what was sent without one without', () => {
  expect(kindOf(grant, { retry: retryOf(otherRequest) })).toBe('reused')
  expect(kindOf(grant, { retry: retryOf(null) })).toBe('reused')
  expect(kindOf(withoutKey, { retry: retryOf(request) })).toBe('reused')
})

test('a spent secret that is not the one before is reuse', () => {
  for (const of of [grant, withoutKey]) {
    expect(kindOf(of, { key: timeKeyAt(now - 1), retry: retryOf(of.retryFingerprint) })).toBe('reused')
  }
})

test('a spent secret is reuse when the last request could not be repeated, or its salt is erased', () => {
  const unrepeatable = { retryKey: null, retrySalt: null, retryFingerprint: null, retryUntil: null }
  for (const retry of [null, retryOf(null), retryOf(request)]) expect(kindOf(unrepeatable, { retry })).toBe('reused')
  for (const lost of Object.keys(unrepeatable)) expect(kindOf({ [lost]: null }, {})).toBe('reused')
})

test('a repeat by another client, of a revoked grant or of one that may not be continued is refused, and does not count as reuse', () => {
  expect(kindOf({}, { clientId: 'apc_live_a' })).toBe('refused')
  expect(kindOf({ revokedAt: now }, {})).toBe('refused')
  expect(kindOf({}, { mayBeContinued: false })).toBe('refused')
})
