// How second factors are set up, replaced and removed by their user, and reset by operators.

import type { RecoveryCode, User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import {
  hashRecoveryCode,
  readCode,
  recoveryCode,
  recoveryCodeBytes,
  recoveryCodeCount,
  stepOfTotpCode,
} from '../../domain/second-factor.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { badInput, decide, type OpenChange, type Operation } from '../decide.ts'
import { endSignIns } from '../end-access.ts'
import type { Platform, Trace } from '../platform.ts'
import { personOf, type Whom } from '../users/find-user.ts'
import { hasFactor } from './factors.ts'

/** A key that a page has shown, and the first code of the app that has it. */
export type Enrolment = { readonly key: Uint8Array; readonly code: string }

/**
 * Prepares to store the key of an authenticator app, outside of a transaction.
 * @throws invalid_request for a code that does not fit the key
 */
export const prepareEnrolment = (platform: Platform, userId: string, { key, code }: Enrolment, now: number) => {
  const step = stepOfTotpCode(key, readCode(code), now)
  if (step === null) throw badInput('code', wrongFirstCode)
  const id = recordId('fct_', platform.random.uuid(now))
  const row = { id, userId, key, lastStep: step, createdAt: now, lastUsedAt: null, endedAt: null }
  return { row, recovery: mintRecoveryCodes(platform, userId, now) }
}

const wrongFirstCode =
  'The code is wrong. Scan the code above with the app, and enter the six digits that it shows now. The clock of the device must be right.'

type PreparedEnrolment = ReturnType<typeof prepareEnrolment>

/** Stores the key, and recovery codes if none work. Returns the new codes. */
export const storeEnrolment = async (
  { q, record }: OpenChange,
  { row, recovery }: PreparedEnrolment,
): Promise<readonly string[] | PlatformError> => {
  const { userId } = row
  if ((await q.totpKeys.ofUser(userId)) !== null) return refuse('version_not_eligible', { message: hasOne })
  await q.totpKeys.insert(row)
  await record({
    actor: { kind: 'user', id: userId },
    action: 'factor.added',
    target: userId,
    detail: { kind: 'totp' },
  })
  return await storeFirstCodes(q, userId, recovery)
}

const hasOne = 'You already have an authenticator app. Remove it before you set up another one.'

/** Stores recovery codes with the first factor. Returns those to show: none if earlier ones still work. */
export const storeFirstCodes = async (q: OpenChange['q'], userId: string, { codes, rows }: MintedRecoveryCodes) => {
  if ((await q.recoveryCodes.countOfUser(userId)) > 0) return []
  await q.recoveryCodes.insertAll(rows)
  return codes
}

/**
 * Adds an authenticator app to the caller's account. Returns recovery codes to show once; none if earlier ones still work.
 * @throws invalid_request for a code that does not fit, version_not_eligible if there is an app already, login_required
 */
export const addAuthenticatorApp = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  enrolment: Enrolment,
): Promise<readonly string[]> => {
  const now = platform.clock.now()
  const prepared = prepareEnrolment(platform, caller.user.id, enrolment, now)
  return await decide(platform, trace, { actor: actorOf(caller), now }, async (change) => {
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    await change.q.users.byId(caller.user.id) // locked, so that a reset waits
    return await storeEnrolment(change, prepared)
  })
}

/**
 * Removes the caller's authenticator app, or one of their passkeys. With the last factor the recovery codes end, too.
 * @throws route_not_found for a passkey that does not work any more, login_required
 */
export const removeFactor = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  factor: { readonly kind: 'totp' } | { readonly kind: 'passkey'; readonly id: string },
): Promise<void> =>
  await decide(platform, trace, { actor: actorOf(caller), endsAccess: true }, async (change) => {
    const { q, now, record } = change
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    const { id } = caller.user
    await q.users.byId(id) // locked, so that a sign-in waits
    const worked = factor.kind === 'totp' ? await q.totpKeys.end(id, now) : await q.passkeys.end(id, factor.id, now)
    if (!worked) return factor.kind === 'totp' ? undefined : refuse('route_not_found')
    await record({ action: 'factor.removed', target: id, detail: { ...factor } })
    if (!(await hasFactor(q, id))) await q.recoveryCodes.endAll(id, now)
    return undefined
  })

type MintedRecoveryCodes = ReturnType<typeof mintRecoveryCodes>

/** New recovery codes of a user, made before the transaction that stores them. The rows have only hashes. */
export const mintRecoveryCodes = ({ random }: Platform, userId: string, now: number) => {
  const minted = Array.from({ length: recoveryCodeCount }, () => ({
    code: recoveryCode(random.bytes(recoveryCodeBytes)),
    id: recordId('rcc_', random.uuid(now)),
  }))
  const rows = minted.map(({ code, id }): RecoveryCode => ({
    id,
    userId,
    hash: hashRecoveryCode(userId, code.replaceAll('-', '')),
    createdAt: now,
    endedAt: null,
  }))
  return { codes: minted.map(({ code }) => code), rows }
}

/**
 * Replaces the caller's recovery codes, and returns the new ones, which nothing can show again.
 * @throws version_not_eligible without a second factor, which the codes would stand in for; login_required
 */
export const replaceRecoveryCodes = async (platform: Platform, trace: Trace, caller: SessionCaller) => {
  const now = platform.clock.now()
  const minted = mintRecoveryCodes(platform, caller.user.id, now)
  return await decide(
    platform,
    trace,
    { actor: actorOf(caller), now },
    async (change): Promise<readonly string[] | PlatformError> => {
      const { q, record } = change
      const ended = await refusalIfEnded(platform, change, caller)
      if (ended !== null) return ended
      await q.users.byId(caller.user.id) // locked, so that sign-ins and resets wait
      if (!(await hasFactor(q, caller.user.id))) return refuse('version_not_eligible', { message: noFactor })
      await q.recoveryCodes.endAll(caller.user.id, now)
      await q.recoveryCodes.insertAll(minted.rows)
      await record({ action: 'factor.recovery_codes_created', target: caller.user.id })
      return minted.codes
    },
  )
}

const noFactor = 'Set up a second factor first: recovery codes replace a lost one.'

type ResetFactors = { readonly user: User; readonly endedSessions: number }

/**
 * Removes every second factor of a user who has lost theirs, and ends their sessions. At the next sign-in the password is enough,
 * or a new factor must be set up first if one is required of them.
 * @throws invalid_request for an unknown address
 */
export const resetFactors: Operation<Whom, ResetFactors> = async (platform, trace, actor, whom) =>
  await decide(platform, trace, { actor, endsAccess: true }, async (change) => {
    const { q, now, record } = change
    const user = await personOf(q, whom)
    if (user instanceof PlatformError) return user
    const endedSessions = await endSignIns(change, user.id)
    await q.totpKeys.end(user.id, now)
    await q.passkeys.endAll(user.id, now)
    await q.recoveryCodes.endAll(user.id, now)
    await record({ action: 'user.factors_reset', target: user.id })
    return { user, endedSessions }
  })
