import type { UserStatus } from './user.ts'
import { isValidAt } from './validity.ts'

type SessionState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
  /** The last use that was recorded; null when there is none since it began. */
  readonly lastUsedAt: number | null
  readonly userStatus: UserStatus
}

const usedAt = ({ createdAt, lastUsedAt }: Pick<SessionState, 'createdAt' | 'lastUsedAt'>): number =>
  lastUsedAt ?? createdAt

/** Whether the session works at this moment (epoch milliseconds): it has neither ended nor expired, and was used lately. */
export const isSessionLive = (session: SessionState, nowMs: number, idleSeconds: number): boolean =>
  isValidAt(session, nowMs) &&
  session.endedAt === null &&
  session.userStatus === 'active' &&
  nowMs - usedAt(session) < idleSeconds * 1000

/**
 * Uses up to this moment are recorded already: another one is not, so that a busy session is written at most every five
 * minutes, or ten times in its idle time.
 */
export const recordedUntil = (nowMs: number, idleSeconds: number): number =>
  nowMs - Math.min(5 * 60_000, idleSeconds * 100)

/** Whether this use of a live session has to be recorded. */
export const isUseUnrecorded = (
  session: Pick<SessionState, 'createdAt' | 'lastUsedAt'>,
  nowMs: number,
  idleSeconds: number,
): boolean => usedAt(session) <= recordedUntil(nowMs, idleSeconds)
