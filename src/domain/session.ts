import type { UserStatus } from './user.ts'
import { isValidAt } from './validity.ts'

type SessionState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
  readonly userStatus: UserStatus
}

/** Whether the session works at this moment (epoch milliseconds). */
export const isSessionLive = (session: SessionState, nowMs: number): boolean =>
  isValidAt(session, nowMs) && session.endedAt === null && session.userStatus === 'active'
