/**
 * Authenticates the four kinds of bearer tokens: app token, user access token, session and embedded session. Each call
 * parses the token once and reads its row once, with everything its validity depends on, from committed state. Nothing
 * may be cached here: a revocation that has been answered must refuse the next call.
 *
 * These are the hottest functions of the program. A read that gives a value (the embedded engine's) is answered without
 * a promise.
 */
import type { Queries } from '../../db/database.ts'
import type { Environment } from '../domain/app.ts'
import { andThen, type Awaitable } from '../domain/awaitable.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { environmentOfClientId, uuidTimeOfKey } from '../domain/identifier.ts'
import { maximumLifetimes } from '../domain/lifetimes.ts'
import { parseStoredScope, type ScopeName } from '../domain/scope.ts'
import { parseSecret, parseToken, type SecretKind } from '../domain/secret.ts'
import {
  embeddedScopes,
  isEmbeddedSessionLive,
  isSessionLive,
  isUseUnrecorded,
  recordedUntil,
} from '../domain/session.ts'
import { type TimeKey, timeOfKey } from '../domain/time-key.ts'
import { isAppTokenLive, isUserTokenLive } from '../domain/token.ts'
import { type Actor, type AuditFacts, auditEvent, auditStamp } from './audit/event.ts'
import { guardedTransaction } from './decision.ts'
import {
  findAccessToken,
  findAppToken,
  findEmbeddedSession,
  findSession,
  parseAnySecret,
  type PresentedSecret,
} from './find-token.ts'
import type { Platform, Trace } from './platform.ts'

/** The app behind a live app token. */
export type AppCaller = {
  readonly kind: 'app'
  readonly tokenKey: TimeKey
  readonly credentialId: string
  readonly clientId: string
  readonly environment: Environment
  /** As stored. No endpoint checks an app token's scopes, so they are not parsed here. */
  readonly scope: string
  readonly expiresAt: number
  readonly app: { readonly id: string; readonly name: string; readonly slug: string; readonly createdAt: number }
}

/** Null for anything but a live app token. */
export const authenticateAppToken = (
  platform: Platform,
  text: string,
  now = platform.clock.now(),
): Awaitable<AppCaller | null> => {
  const secret = parseToken('appToken', text)
  if (secret === null) return null
  return andThen(findAppToken(platform.database.queries, secret), (row) =>
    row === null || !isAppTokenLive(row, now)
      ? null
      : {
          kind: 'app',
          tokenKey: row.key,
          credentialId: row.credentialId,
          clientId: row.clientId,
          environment: row.environment,
          scope: row.scopes,
          expiresAt: row.expiresAt,
          app: { id: row.appId, name: row.appName, slug: row.appSlug, createdAt: row.appCreatedAt },
        },
  )
}

/** The user and the app behind a live user access token. */
export type UserCaller = {
  readonly kind: 'user'
  readonly grantId: string
  readonly appId: string
  readonly clientId: string
  readonly scopes: readonly ScopeName[]
  readonly expiresAt: number
  readonly user: {
    readonly id: string
    readonly name: string
    readonly email: string
    readonly pictureUrl: string | null
  }
}

/** Null for anything but a live user access token. */
export const authenticateUserToken = (
  platform: Platform,
  text: string,
  now = platform.clock.now(),
): Awaitable<UserCaller | null> => {
  const secret = parseToken('userAccessToken', text)
  if (secret === null) return null
  return andThen(findAccessToken(platform.database.queries, secret), (row) =>
    row === null || !isUserTokenLive(row.key, row, now)
      ? null
      : {
          kind: 'user',
          grantId: row.grantId,
          appId: row.appId,
          clientId: row.clientId,
          scopes: parseStoredScope(row.scopes),
          expiresAt: row.expiresAt,
          user: { id: row.userId, name: row.userName, email: row.userEmail, pictureUrl: row.userPictureUrl },
        },
  )
}

/** The user behind a live session. */
export type SessionCaller = {
  readonly kind: 'session'
  readonly sessionKey: string
  readonly expiresAt: number
  readonly user: { readonly id: string; readonly name: string; readonly email: string; readonly isOperator: boolean }
}

/** Null for anything but a live session of an active user. */
export const authenticateSession = (
  platform: Platform,
  text: string,
  now = platform.clock.now(),
): Awaitable<SessionCaller | null> => {
  const secret = parseSecret('session', text)
  if (secret === null) return null
  return andThen(findSession(platform.database.queries, secret), (row) => {
    if (row === null) return null
    const { session, user } = row
    const { sessionIdle } = platform.lifetimes
    if (!isSessionLive({ ...session, userStatus: user.status }, now, sessionIdle)) return null
    if (isUseUnrecorded(session, now, sessionIdle)) void recordUse(platform, session.key, now)
    return {
      kind: 'session',
      sessionKey: session.key,
      expiresAt: session.expiresAt,
      user: { id: user.id, name: user.name, email: user.email, isOperator: user.isOperator },
    }
  })
}

/**
 * Records that the session was used, once for all requests that arrive at the same time. No response waits for it. A use
 * that cannot be recorded now is recorded with a later request.
 */
const recordUse = async (platform: Platform, key: string, now: number): Promise<void> => {
  const { lifetimes, running } = platform
  const name = `session.use ${key}`
  if (running.has(name)) return
  running.add(name)
  try {
    await guardedTransaction(platform, (q) => q.sessions.use(key, now, recordedUntil(now, lifetimes.sessionIdle)))
  } catch {
    // The engine has reported why it takes no writes.
  } finally {
    running.delete(name)
  }
}

/** Who acts, as the audit names them: the user of a session, or the client of a token. */
export const actorOf = (caller: SessionCaller | AppCaller | UserCaller): Actor =>
  caller.kind === 'session' ? { kind: 'user', id: caller.user.id } : { kind: 'app', id: caller.clientId }

/** The page of an app in a frame, with the user and the install it is open for. */
export type EmbeddedCaller = Pick<UserCaller, 'appId' | 'clientId' | 'expiresAt' | 'user'> & {
  readonly kind: 'embedded'
  readonly installId: string
  readonly scopes: readonly ScopeName[]
}

/** `caller` is null for anything but a live session; `origin` is the only one that may use it, null for an unknown token. */
type EmbeddedAuthentication = { readonly caller: EmbeddedCaller | null; readonly origin: string | null }

/** The door that sees the request must compare its origin before it trusts the caller. */
export const authenticateEmbeddedSession = (
  platform: Platform,
  text: string,
  now = platform.clock.now(),
): Awaitable<EmbeddedAuthentication> => {
  const secret = parseSecret('embeddedSession', text)
  if (secret === null) return { caller: null, origin: null }
  return andThen(findEmbeddedSession(platform.database.queries, secret), (row) => {
    if (row === null) return { caller: null, origin: null }
    const { session, ...state } = row
    const { origin } = session
    const { sessionIdle } = platform.lifetimes
    if (!isEmbeddedSessionLive({ ...session, ...state }, now, sessionIdle)) {
      return { caller: null, origin }
    }
    const caller: EmbeddedCaller = {
      kind: 'embedded',
      installId: session.installId,
      appId: state.appId,
      clientId: session.clientId,
      scopes: embeddedScopes(session.scopes, state),
      expiresAt: session.expiresAt,
      user: { id: state.userId, name: state.userName, email: state.userEmail, pictureUrl: state.userPictureUrl },
    }
    return { caller, origin }
  })
}

/** What the audit event of a refused token says about its owner. */
export type Trail = Pick<AuditFacts, 'appId' | 'environment' | 'target'>

export const refusedBearer = { actor: { kind: 'anonymous' }, action: 'bearer.check' } as const

/** What a refused bearer token turned out to be. */
type RefusedToken =
  /** Its row exists: it has ended, or a genuine caller used it in the wrong place. */
  | { readonly kind: 'issued'; readonly trail: Trail }
  /** Its row has been purged, if it ever existed. It cannot be told from a forged one. */
  | { readonly kind: 'too old' }
  | { readonly kind: 'never issued' }

/** Looks a refused bearer token up once more. */
export const findRefused = async (platform: Platform, text: string): Promise<RefusedToken> => {
  const secret = parseAnySecret(text)
  if (secret === null) return { kind: 'never issued' }
  const trail = await trailOf(platform.database.queries, secret)
  if (trail !== null) return { kind: 'issued', trail }
  return isTooOld(secret, platform.clock.now()) ? { kind: 'too old' } : { kind: 'never issued' }
}

/** Whose token it is, live or not; null for an unknown one. */
const trailOf = async (q: Queries, secret: PresentedSecret): Promise<Trail | null> => {
  switch (secret.kind) {
    case 'appToken': {
      const row = await findAppToken(q, secret)
      return row && { appId: row.appId, environment: row.environment, target: row.credentialId }
    }
    case 'userAccessToken': {
      const row = await findAccessToken(q, secret)
      return row && { appId: row.appId, environment: environmentOfClientId(row.clientId), target: row.grantId }
    }
    case 'embeddedSession': {
      const row = await findEmbeddedSession(q, secret)
      return row && { appId: row.appId, environment: row.environment, target: row.session.installId }
    }
    case 'session': {
      const row = await findSession(q, secret)
      return row && { target: row.user.id }
    }
    default:
      return null
  }
}

/** The longest lifetime of each kind of bearer token, in seconds. */
const longestLifetimes: Partial<Record<SecretKind, number>> = {
  appToken: maximumLifetimes.appToken,
  userAccessToken: maximumLifetimes.accessToken,
  session: maximumLifetimes.session,
  embeddedSession: maximumLifetimes.embeddedSession,
}

const issuedAt = (key: PresentedSecret['key']): number =>
  typeof key === 'number' ? timeOfKey(key) : uuidTimeOfKey(key)

/** Whether its key, which contains the time of issue, is older than the longest lifetime of its kind. */
const isTooOld = ({ kind, key }: PresentedSecret, now: number): boolean => {
  const seconds = longestLifetimes[kind]
  return seconds !== undefined && issuedAt(key) + seconds * 1000 < now
}

/**
 * Writes the audit event of a refused bearer token, in the trail of its app or user if it was ever issued. Tokens that are
 * too old are only counted, because anyone can make up any number of them. The refusal stands even if the event cannot
 * be written, so a store that takes no writes never turns a refusal into another answer.
 */
export const recordRefusal = async (platform: Platform, trace: Trace, token: RefusedToken, refusedWith: ErrorCode) => {
  const { clock, refusals } = platform
  const trail = token.kind === 'issued' ? token.trail : {}
  const event = auditEvent(auditStamp(platform, trace, clock.now()), { ...refusedBearer, ...trail, refusedWith })
  if (token.kind === 'too old') return refusals.count(event)
  if (!refusals.admit(event)) return
  try {
    await guardedTransaction(platform, (q) => q.audit.insert(event))
  } catch {
    // The engine has reported why it takes no writes.
  }
}
