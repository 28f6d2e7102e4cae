import type { AppStatus } from './app.ts'
import type { Environment } from './environment.ts'
import { type installStates, isInstallLive, type InstallApproval } from './install.ts'
import { commonTo, parseStoredScope, type ScopeName } from './scope.ts'
import { isSessionLive } from './session.ts'
import type { UserStatus } from './user.ts'
import { isValidAt } from './validity.ts'

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
