import { isSessionLive } from '../../domain/session.ts'
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
  if (!isSessionLive({ ...session, userStatus: user.status }, platform.clock.now())) return null
  return {
    kind: 'session',
    sessionKey: session.key,
    expiresAt: session.expiresAt,
    user: { id: user.id, name: user.name, email: user.email, isOperator: user.isOperator },
  }
}
