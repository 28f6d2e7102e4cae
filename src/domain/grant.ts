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

/** The code or refresh token that was presented by an authenticated client, found in the store by key and hash. */
type Presented = {
  readonly key: TimeKey
  readonly clientId: string
  readonly expired: boolean
  readonly userActive: boolean
  /** SHA-256 over the idempotency key and the body; null when no key was sent. */
  readonly fingerprint: Uint8Array | null
}

type ContinuationDecision =
  /** It is the current one: check the rest of the request, then spend it. */
  | { readonly kind: 'continue' }
  /** A permitted repeat of the last step: answer with the same tokens. */
  | { readonly kind: 'replay'; readonly salt: Uint8Array }
  /** It was spent before: the grant is compromised and ends. */
  | { readonly kind: 'reused' }
  /** Not valid for this client, expired or revoked; nothing changes. */
  | { readonly kind: 'refused' }

/** When a grant expires however often it is refreshed, in epoch milliseconds. None of its tokens lives longer. */
export const grantEndsAt = ({ createdAt }: { readonly createdAt: number }, lifetimeSeconds: number): number =>
  createdAt + lifetimeSeconds * 1000

/** How long a request whose answer was lost may be repeated, in milliseconds (contract section 3). */
export const retryWindowMs = 60_000

/**
 * Decides about a presented code or refresh token, and changes nothing. The update that spends it applies only while its
 * key is still the current one.
 */
export const decideContinuation = (grant: GrantState, presented: Presented, nowMs: number): ContinuationDecision => {
  if (grant.clientId !== presented.clientId) return { kind: 'refused' }
  if (grant.revokedAt !== null) return { kind: 'refused' }
  if (grant.currentKey === presented.key) {
    return presented.expired || !presented.userActive ? { kind: 'refused' } : { kind: 'continue' }
  }
  const salt = retrySaltFor(grant, presented, nowMs)
  if (salt === null) return { kind: 'reused' }
  return presented.userActive ? { kind: 'replay', salt } : { kind: 'refused' }
}

/** Only for the direct predecessor, the same request, and while the retry window is open. */
const retrySaltFor = (grant: GrantState, presented: Presented, nowMs: number): Uint8Array | null => {
  if (grant.retryKey !== presented.key || grant.retryUntil === null || nowMs >= grant.retryUntil) return null
  if (presented.fingerprint === null || grant.retryFingerprint === null) return null
  return sameHash(presented.fingerprint, grant.retryFingerprint) ? grant.retrySalt : null
}
