import type { Queries } from '../../../db/database.ts'
import { hashRecoveryCode, readCode, stepOfTotpCode } from '../../domain/second-factor.ts'
import type { OpenChange } from '../decide.ts'
import type { Platform } from '../platform.ts'

/** The second factors of a user, as they and operators see them. */
export type Factors = Awaited<ReturnType<typeof factorsOf>>

export const factorsOf = async ({ database: { queries: q } }: Platform, userId: string) => {
  const totp = await q.totpKeys.ofUser(userId)
  const passkeys = await q.passkeys.ofUser(userId)
  return {
    /** The authenticator app; null without one. */
    totp: totp === null ? null : { createdAt: totp.createdAt, lastUsedAt: totp.lastUsedAt },
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({ id, name, createdAt, lastUsedAt })),
    recoveryCodes: await q.recoveryCodes.countOfUser(userId),
    /** From when on one is required; null if the user was never asked. */
    dueAt: (await q.users.byId(userId))?.factorDueAt ?? null,
  }
}

/** Whether a sign-in of this user needs a second factor. Recovery codes alone are none. */
export const hasFactor = async (q: Queries, userId: string): Promise<boolean> =>
  (await q.totpKeys.ofUser(userId)) !== null || (await q.passkeys.countOfUser(userId)) > 0

/** What was proved in addition to the first proof. */
export type UsedFactor = 'totp' | 'recovery_code' | 'passkey'

/**
 * Uses a code up: of the authenticator app, or a recovery code. Null for a wrong code and for one that was used before. Of
 * parallel calls with one code, one succeeds, because each code is used up by a conditional write.
 */
export const useCode = async (
  { q, now }: OpenChange,
  userId: string,
  typed: string,
): Promise<Exclude<UsedFactor, 'passkey'> | null> => {
  const code = readCode(typed)
  const totp = await q.totpKeys.ofUser(userId)
  const step = totp === null ? null : stepOfTotpCode(totp.key, code, now)
  if (totp !== null && step !== null) return (await q.totpKeys.use(totp.id, step, now)) ? 'totp' : null
  if (code.kind !== 'recovery' || !(await hasFactor(q, userId))) return null
  return (await q.recoveryCodes.use(userId, hashRecoveryCode(userId, code.code), now)) ? 'recovery_code' : null
}
