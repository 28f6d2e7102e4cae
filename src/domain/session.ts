import type { UserStatus } from './user.ts'
import { isValidAt } from './lifetimes.ts'
import type { AppStatus, Environment } from './app.ts'
import { type InstallApproval, type installStates, isInstallLive } from './install.ts'
import { commonTo, parseStoredScope, type ScopeName } from './scope.ts'

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

/** All that a page in a frame stands on: the install, the app, the user, and that user's session in this browser. */
type EmbeddingState = {
  readonly installApproval: InstallApproval
  readonly installState: (typeof installStates)[number]
  readonly appStatus: AppStatus
  readonly userStatus: UserStatus
  readonly sessionCreatedAt: number
  readonly sessionExpiresAt: number
  readonly sessionEndedAt: number | null
  readonly sessionLastUsedAt: number | null
}

type EmbeddedSessionState = EmbeddingState & {
  readonly createdAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}

/** As the store keeps scopes. */
type ScopesNow = {
  readonly environment: Environment
  readonly agreedScopes: string
  /** Of the version that is live and of the development head; null when there is none. */
  readonly liveScopes: string | null
  readonly headScopes: string | null
}

/** What a page may do at this moment: what it was opened with, as far as the owner agrees to it and the version asks for it. */
export const embeddedScopes = (openedWith: string, now: ScopesNow): readonly ScopeName[] => {
  const asked = now.environment === 'production' ? now.liveScopes : now.headScopes
  const agreed = commonTo(parseStoredScope(openedWith), parseStoredScope(now.agreedScopes))
  return commonTo(agreed, parseStoredScope(asked ?? ''))
}

/** What ends it from outside; null while nothing has. The first thing that has ended is told. */
export const embeddingFault = (
  state: EmbeddingState,
  nowMs: number,
  idleSeconds: number,
): 'invalid_grant' | 'app_inactive' | 'install_required' | null => {
  const session = {
    createdAt: state.sessionCreatedAt,
    expiresAt: state.sessionExpiresAt,
    endedAt: state.sessionEndedAt,
    lastUsedAt: state.sessionLastUsedAt,
    userStatus: state.userStatus,
  }
  if (!isSessionLive(session, nowMs, idleSeconds)) return 'invalid_grant'
  if (state.appStatus !== 'active') return 'app_inactive'
  return isInstallLive({ approval: state.installApproval, state: state.installState }) ? null : 'install_required'
}

/** Whether the embedded session works at this moment (epoch milliseconds). */
export const isEmbeddedSessionLive = (session: EmbeddedSessionState, nowMs: number, idleSeconds: number): boolean =>
  isValidAt(session, nowMs) && session.endedAt === null && embeddingFault(session, nowMs, idleSeconds) === null

/** A spent code, and where and when it is presented again. */
type RepeatedUse = {
  readonly code: { readonly origin: string; readonly spentAt: number | null; readonly spentFrom: string | null }
  readonly origin: string | null
  readonly address: string
}

/** A page that sends its code twice, as one that is loaded twice does, sends it so soon. */
const repeatWindowMs = 2_000

/** Whether a spent code comes from the page that spent it: its origin and address, at once. Anything else has a copy of the code. */
export const isOwnRepeat = ({ code, origin, address }: RepeatedUse, nowMs: number): boolean =>
  code.spentAt !== null &&
  nowMs - code.spentAt <= repeatWindowMs &&
  origin === code.origin &&
  address === code.spentFrom
