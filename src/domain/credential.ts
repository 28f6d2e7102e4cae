import { clockToleranceMs } from './lifetimes.ts'

/** One client secret. Ends by revocation at once, or when the grace of a rotation is over (contract section 2). */
type CredentialState = { readonly revokedAt: number | null; readonly expiresAt: number | null }

export type CredentialStatus = 'live' | 'ended' | 'suspended'

/** Suspended: it would work, but after an accepted loss it may be one that was revoked, and no operator has confirmed it. */
export const credentialStatus = (
  credential: CredentialState & { readonly suspendedAt: number | null },
  nowMs: number,
): CredentialStatus => {
  if (!isUnended(credential, nowMs)) return 'ended'
  return credential.suspendedAt === null ? 'live' : 'suspended'
}

/** Whether the secret has not ended at this moment (epoch milliseconds), whatever its app is. */
export const isUnended = (credential: CredentialState, nowMs: number): boolean =>
  credential.revokedAt === null && (credential.expiresAt === null || isInGrace(credential.expiresAt, nowMs))

/** An end further off than any grace was set under a clock that has since been set back: doubt is a refusal. */
const isInGrace = (endsAtMs: number, nowMs: number): boolean =>
  nowMs < endsAtMs && endsAtMs - nowMs <= graceHours.maximum * 3_600_000 + clockToleranceMs

/** Live secrets that one environment may have at the same time. */
export const maximumLiveSecrets = 2
/** Hours that a rotated secret goes on working, unless the caller says otherwise. */
export const graceHours = { default: 24, maximum: 168 } as const
/** The last use is written at most this often, so that a busy secret costs no write per call. */
export const lastUsePrecisionMs = 60_000
