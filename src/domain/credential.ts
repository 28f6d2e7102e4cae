import { clockToleranceMs } from './lifetimes.ts'

/** One client secret. It ends at revocation, or when the grace period of a rotation expires (contract section 2). */
type CredentialState = { readonly revokedAt: number | null; readonly expiresAt: number | null }

type CredentialStatus = 'live' | 'ended' | 'suspended'

/** Suspended: it has not ended, but a revocation may be among the data that was lost, and no operator has confirmed it. */
export const credentialStatus = (
  credential: CredentialState & { readonly suspendedAt: number | null },
  nowMs: number,
): CredentialStatus => {
  if (!isUnended(credential, nowMs)) return 'ended'
  return credential.suspendedAt === null ? 'live' : 'suspended'
}

/** Whether the secret has not ended at this moment (epoch milliseconds); the state of its app is not considered. */
export const isUnended = (credential: CredentialState, nowMs: number): boolean =>
  credential.revokedAt === null && (credential.expiresAt === null || isInGrace(credential.expiresAt, nowMs))

/** An end beyond the longest grace period was set under a clock that has since been set back. Doubt is a refusal. */
const isInGrace = (endsAtMs: number, nowMs: number): boolean =>
  nowMs < endsAtMs && endsAtMs - nowMs <= graceHours.maximum * 3_600_000 + clockToleranceMs

/** The most live secrets of one environment. */
export const maximumLiveSecrets = 2
/** Hours that a rotated secret stays valid: a client secret works and a webhook secret signs as long. */
export const graceHours = { default: 24, maximum: 168 } as const
/** When the team is told that a rotated secret ends: a day before, or in the middle of a grace period that is shorter than two days. */
export const endToldAtMs = (rotatedAtMs: number, endsAtMs: number): number =>
  endsAtMs - Math.min(24 * 3_600_000, (endsAtMs - rotatedAtMs) / 2)
/** Why a secret cannot be rotated with this grace period, as a sentence; null when it can. */
export const graceFault = (hours: number): string | null =>
  Number.isInteger(hours) && hours >= 0 && hours <= graceHours.maximum
    ? null
    : `The grace is a whole number of hours from 0 to ${graceHours.maximum}.`
/** The last use is recorded at most this often, so that a busy secret does not cost a write per call. */
export const lastUsePrecisionMs = 60_000

/** Whether this use of a client secret or service key has to be recorded. */
export const isSecretUseUnrecorded = ({ lastUsedAt }: { readonly lastUsedAt: number | null }, nowMs: number): boolean =>
  lastUsedAt === null || nowMs - lastUsedAt >= lastUsePrecisionMs
