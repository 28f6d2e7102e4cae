import type { UserStatus } from './user.ts'
import { isValidAt } from './lifetimes.ts'
import type { AppStatus, Environment } from './app.ts'
import type { MemberRole } from './member.ts'
import { type InstallApproval, type installStates, isInstallLive } from './install.ts'
import { commonTo, parseStoredScope, type ScopeName } from './scope.ts'

type SessionState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
  /** The last recorded use; null when there was none since the sign-in. */
  readonly lastUsedAt: number | null
  readonly userStatus: UserStatus
}

const usedAt = ({ createdAt, lastUsedAt }: Pick<SessionState, 'createdAt' | 'lastUsedAt'>): number =>
  lastUsedAt ?? createdAt

/** Whether the session works at this moment (epoch milliseconds): not ended, not expired, and used recently. */
export const isSessionLive = (session: SessionState, nowMs: number, idleSeconds: number): boolean =>
  isValidAt(session, nowMs) &&
  session.endedAt === null &&
  session.userStatus === 'active' &&
  nowMs - usedAt(session) < idleSeconds * 1000

/**
 * A session whose recorded use is later than this moment needs no new record, so that a busy session is written at most
 * every five minutes, or ten times in its idle time.
 */
export const recordedUntil = (nowMs: number, idleSeconds: number): number =>
  nowMs - Math.min(5 * 60_000, idleSeconds * 100)

/** Whether this use of a live session must be recorded. */
export const isUseUnrecorded = (
  session: Pick<SessionState, 'createdAt' | 'lastUsedAt'>,
  nowMs: number,
  idleSeconds: number,
): boolean => usedAt(session) <= recordedUntil(nowMs, idleSeconds)

/** What an embedded session depends on: the install, the app, the user, and the user's session in this browser. */
type EmbeddingState = {
  readonly environment: Environment
  readonly userId: string
  readonly appOwnerId: string
  /** The role of the user in the app; null if they are no member, and for the publisher. */
  readonly memberRole: MemberRole | null
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

/** Scopes in the form of the store. */
type ScopesNow = {
  readonly environment: Environment
  readonly agreedScopes: string
  /** Of the live version and of the development head; null when there is none. */
  readonly liveScopes: string | null
  readonly headScopes: string | null
}

/** The scopes that a page has now: those it was opened with, if the owner still agrees and the version still asks. */
export const embeddedScopes = (openedWith: string, now: ScopesNow): readonly ScopeName[] => {
  const asked = now.environment === 'production' ? now.liveScopes : now.headScopes
  const agreed = commonTo(parseStoredScope(openedWith), parseStoredScope(now.agreedScopes))
  return commonTo(agreed, parseStoredScope(asked ?? ''))
}

/** Why an embedded session no longer works, by the first of its dependencies that has ended; null while all hold. */
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
  if (state.environment === 'development' && state.userId !== state.appOwnerId && state.memberRole === null) {
    return 'install_required' // only people of the app see what was not reviewed
  }
  return isInstallLive({ approval: state.installApproval, state: state.installState }) ? null : 'install_required'
}

/** Whether the embedded session works at this moment (epoch milliseconds). */
export const isEmbeddedSessionLive = (session: EmbeddedSessionState, nowMs: number, idleSeconds: number): boolean =>
  isValidAt(session, nowMs) && session.endedAt === null && embeddingFault(session, nowMs, idleSeconds) === null

/** A spent code that is presented again. */
type RepeatedUse = {
  readonly code: { readonly origin: string; readonly spentAt: number | null; readonly spentFrom: string | null }
  readonly origin: string | null
  readonly address: string
}

/** A page that is loaded twice sends its code again within this time. */
const repeatWindowMs = 2_000

/** Whether a spent code comes from the page that spent it: same origin and address, and at once. Otherwise it was copied. */
export const isOwnRepeat = ({ code, origin, address }: RepeatedUse, nowMs: number): boolean =>
  code.spentAt !== null &&
  nowMs - code.spentAt <= repeatWindowMs &&
  origin === code.origin &&
  address === code.spentFrom
