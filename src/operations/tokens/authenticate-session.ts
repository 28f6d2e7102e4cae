import { isSessionLive, isUseUnrecorded, recordedUntil } from '../../domain/session.ts'
import type { Platform } from '../platform.ts'
import { findSession } from './find-token.ts'

/** The user behind a live session. */
export type SessionCaller = {
  readonly kind: 'session'
  readonly sessionKey: string
  readonly expiresAt: number
  readonly user: { readonly id: string; readonly name: string; readonly email: string; readonly isOperator: boolean }
}

/** One prepared read of committed state; null for anything but a live session of an active user. */
export const authenticateSession = async (platform: Platform, text: string): Promise<SessionCaller | null> => {
  const found = await findSession(platform.database.queries, text)
  if (found === null) return null
  const { session, user } = found.row
  const now = platform.clock.now()
  const { sessionIdle } = platform.lifetimes
  if (!isSessionLive({ ...session, userStatus: user.status }, now, sessionIdle)) return null
  if (isUseUnrecorded(session, now, sessionIdle)) void recordUse(platform, session.key, now)
  return {
    kind: 'session',
    sessionKey: session.key,
    expiresAt: session.expiresAt,
    user: { id: user.id, name: user.name, email: user.email, isOperator: user.isOperator },
  }
}

/**
 * Records that the session was used, once for all requests that come at the same time. No answer waits for it, and none
 * depends on it: a use that cannot be recorded is recorded with one of the next requests.
 */
const recordUse = async ({ database, lifetimes, running }: Platform, key: string, now: number): Promise<void> => {
  const name = `session.use ${key}`
  if (running.has(name)) return
  running.add(name)
  try {
    await database.transaction(async (q) => await q.sessions.use(key, now, recordedUntil(now, lifetimes.sessionIdle)))
  } catch {
    // The engine has reported why it takes no writes.
  } finally {
    running.delete(name)
  }
}
