import type { Grant, Queries, TokenPair } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { asRowKey } from '../../domain/identifier.ts'
import { sameHash } from '../../domain/secret.ts'
import { type AuditStamp, auditEvent } from '../audit/event.ts'
import { type RefusalLog, tellRefusal } from '../audit/refusal-log.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { type Decision, done, refused } from '../decision.ts'
import type { TokenKind } from '../platform.ts'
import { derivePair, type MintedPair } from './token-pair.ts'
import { announce } from '../webhooks/events.ts'

/** One try of an authenticated client to exchange a code or rotate a refresh token, and the ways it can end. */
export type Attempt = {
  readonly q: Queries
  readonly refusals: RefusalLog
  readonly stamp: AuditStamp
  readonly client: AuthenticatedClient
  readonly now: number
  readonly secret: string
  readonly action: string
  readonly tokenKind: TokenKind
}

export type IssuedTokens = {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly refreshToken: string
  readonly refreshTokenExpiresInSeconds: number
  readonly scope: string
  readonly grantId: string
  readonly appId: string
}

const wholeSecondsUntil = (moment: number, now: number): number => Math.max(0, Math.floor((moment - now) / 1000))

/** The answer to a won exchange or refresh; what is left of each lifetime at `now` is told in whole seconds. */
export const tellTokens = (pair: MintedPair, row: TokenPair, grant: Grant, now: number): IssuedTokens => ({
  accessToken: pair.accessToken,
  expiresInSeconds: wholeSecondsUntil(row.accessExpiresAt, now),
  refreshToken: pair.refreshToken,
  refreshTokenExpiresInSeconds: wholeSecondsUntil(row.refreshExpiresAt, now),
  scope: row.scopes,
  grantId: grant.id,
  appId: grant.appId,
})

/** The same tokens once more, derived again from what was presented; they must meet the stored hashes. */
export const repeatAnswer = async (
  attempt: Attempt,
  grant: Grant,
  salt: Uint8Array,
): Promise<Decision<IssuedTokens>> => {
  const current = await attempt.q.grants.findPair(grant.currentKey)
  const pair = derivePair(asRowKey(grant.currentKey), attempt.secret, salt)
  if (
    current === null ||
    !sameHash(pair.accessHash, current.pair.accessHash) ||
    !sameHash(pair.refreshHash, current.pair.refreshHash)
  ) {
    return await refuseAttempt(attempt, grant)
  }
  const action = `${attempt.action}.repeated`
  await attempt.q.audit.insert(auditEvent(attempt.stamp, { ...about(attempt, grant), action }))
  return done(tellTokens(pair, current.pair, grant, attempt.now))
}

/**
 * Refuses without spending anything. Every wrong code, verifier and URI is the same `invalid_grant`; `fault` is what
 * else may be said. A retry of the answer before is over once its refresh token has been presented (contract §3).
 */
export const refuseAttempt = async (
  attempt: Attempt,
  grant: Grant | null,
  fault: PlatformError = refuse('invalid_grant'),
): Promise<Decision<never>> => {
  const { q, refusals, stamp, action, client } = attempt
  if (grant?.clientId === client.clientId && grant.retryKey !== null) await q.grants.closeRetry(grant.id)
  await tellRefusal(q, refusals, auditEvent(stamp, { ...about(attempt, grant), action, refusedWith: fault.code }))
  return refused(fault)
}

/** A spent secret came back: whatever the family still holds ends with it. */
export const endFamily = async (attempt: Attempt, grant: Grant): Promise<Decision<never>> => {
  const { q, stamp, now, tokenKind } = attempt
  await q.grants.revoke(grant.id, now)
  await announce(q, stamp, {
    ...about(attempt, grant),
    action: 'grant.reuse_detected',
    refusedWith: 'invalid_grant',
    detail: { presented: tokenKind, revoked: true },
  })
  return refused(refuse('invalid_grant'))
}

/** A grant of another client is not named in this client's trail. */
const about = ({ client }: Attempt, grant: Grant | null) => ({
  actor: { kind: 'app', id: client.clientId } as const,
  appId: client.appId,
  environment: client.environment,
  target: grant !== null && grant.clientId === client.clientId ? grant.id : null,
})
