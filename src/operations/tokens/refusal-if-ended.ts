import type { Queries } from '../../../db/database.ts'
import { isAppTokenLive } from '../../domain/token.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { isSessionLive } from '../../domain/session.ts'
import { type AuditStamp, auditEvent } from '../audit/event.ts'
import type { Platform } from '../platform.ts'
import type { AppCaller } from './authenticate-app-token.ts'
import type { SessionCaller } from './authenticate-session.ts'

/**
 * Reads the caller's state once more inside the writing transaction, so that a revocation which has answered stops a
 * write that was authenticated a moment before it, and leaves the row of that refusal. Null when the caller is still
 * who it was.
 */
export const refusalIfEnded = async (
  { lifetimes }: Pick<Platform, 'lifetimes'>,
  q: Queries,
  stamp: AuditStamp,
  caller: AppCaller | SessionCaller,
  now: number,
): Promise<PlatformError | null> => {
  if (await isStillLive(q, caller, now, lifetimes.sessionIdle)) return null
  const refusal = refuse(caller.kind === 'app' ? 'invalid_token' : 'login_required')
  const facts = { actor: { kind: 'anonymous' }, action: 'bearer.check', refusedWith: refusal.code } as const
  await q.audit.insert(auditEvent(stamp, { ...facts, ...trailOf(caller) }))
  return refusal
}

const isStillLive = async (
  q: Queries,
  caller: AppCaller | SessionCaller,
  now: number,
  idleSeconds: number,
): Promise<boolean> => {
  if (caller.kind === 'app') {
    const found = await q.appTokens.find(caller.tokenKey)
    return found !== null && isAppTokenLive(found, now)
  }
  const found = await q.sessions.find(caller.sessionKey)
  return found !== null && isSessionLive({ ...found.session, userStatus: found.user.status }, now, idleSeconds)
}

const trailOf = (caller: AppCaller | SessionCaller) =>
  caller.kind === 'app'
    ? { appId: caller.app.id, environment: caller.environment, target: caller.credentialId }
    : { target: caller.user.id }
