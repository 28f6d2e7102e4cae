import { sameHash } from './secret.ts'
import type { TimeKey } from './time-key.ts'

/**
 * A grant is one authorization by one user for one client. Its `currentKey` names the only code or refresh token that
 * may continue it; every other one of the grant has been spent. So a code exchange and a refresh are the same step, and
 * one rule distinguishes reuse from a permitted retry (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2).
 */
type GrantState = {
  readonly clientId: string
  readonly currentKey: TimeKey
  readonly revokedAt: number | null
  readonly retryKey: TimeKey | null
  readonly retryFingerprint: Uint8Array | null
  readonly retrySalt: Uint8Array | null
  readonly retryUntil: number | null
}

/**
 * How a request may be repeated if its answer was lost (contract section 3). It is told by the SHA-256 over its idempotency key and
 * its body. A refresh without a key has none (null), and is told by the scopes that it asks for, which the caller compares.
 */
export type Retry = { readonly fingerprint: Uint8Array | null; readonly windowMs: number }

/** The code or refresh token that was presented by an authenticated client, found in the store by key and hash. */
type Presented = {
  readonly key: TimeKey
  readonly clientId: string
  readonly expired: boolean
  /** Whether the user is active and the grant has time left. */
  readonly mayBeContinued: boolean
  /** Null for a request that cannot be repeated. */
  readonly retry: Retry | null
}

type ContinuationDecision =
  /** It is the current one: check the rest of the request, then spend it. */
  | { readonly kind: 'continue' }
  /**
   * It was spent before. With a salt, this may be the last step again: answer with the same tokens. Without one it is reuse: the grant
   * is compromised and ends.
   */
  | { readonly kind: 'spent'; readonly salt: Uint8Array | null }
  /** Not valid for this client, expired or revoked; nothing changes. */
  | { readonly kind: 'refused' }

/** When a grant expires however often it is refreshed, in epoch milliseconds. None of its tokens lives longer. */
export const grantEndsAt = ({ createdAt }: { readonly createdAt: number }, lifetimeSeconds: number): number =>
  createdAt + lifetimeSeconds * 1000

/** How long a request with an idempotency key may be repeated, in milliseconds (contract section 3). */
export const keyedRetryMs = 60_000

/**
 * Decides about a presented code or refresh token, and changes nothing. The update that spends it applies only while its
 * key is still the current one.
 */
export const decideContinuation = (grant: GrantState, presented: Presented, nowMs: number): ContinuationDecision => {
  if (grant.clientId !== presented.clientId) return { kind: 'refused' }
  if (grant.revokedAt !== null) return { kind: 'refused' }
  if (grant.currentKey === presented.key) {
    return presented.expired || !presented.mayBeContinued ? { kind: 'refused' } : { kind: 'continue' }
  }
  const salt = retrySaltFor(grant, presented, nowMs)
  return salt === null || presented.mayBeContinued ? { kind: 'spent', salt } : { kind: 'refused' }
}

/** Only for the direct predecessor, the same request, and while the retry window is open. */
const retrySaltFor = (grant: GrantState, { key, retry }: Presented, nowMs: number): Uint8Array | null => {
  if (grant.retryKey !== key || grant.retryUntil === null || nowMs >= grant.retryUntil) return null
  return retry !== null && sameRequest(retry.fingerprint, grant.retryFingerprint) ? grant.retrySalt : null
}

/** What was sent with a key is repeated with that key, and what was sent without one without. */
const sameRequest = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null ? one === other : sameHash(one, other)
