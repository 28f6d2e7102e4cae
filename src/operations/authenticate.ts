/**
 * Authenticates the four kinds of bearer tokens: app token, user access token, session and embedded session. Each call
 * parses the token once and reads its row once, with everything its validity depends on, from committed state. Nothing
 * may be cached here: a revocation that has been answered must refuse the next call.
 *
 * These are the hottest functions of the program. A read that gives a value (the embedded engine's) is answered without
 * a promise.
 */
import type { Queries, ServiceKey } from '../../db/database.ts'
import type { Environment } from '../domain/app.ts'
import { andThen, type Awaitable } from '../domain/awaitable.ts'
import { noPassword } from '../domain/password.ts'
import { parseStoredScope, type ScopeName } from '../domain/scope.ts'
import { mayUsePassword } from '../domain/sign-in-rules.ts'
import { parseSecret, parseToken } from '../domain/secret.ts'
import {
  embeddedScopes,
  isEmbeddedSessionLive,
  isSessionLive,
  isUseUnrecorded,
  recordedUntil,
} from '../domain/session.ts'
import type { TimeKey } from '../domain/time-key.ts'
import { isAppTokenLive, isUserTokenLive } from '../domain/token.ts'
import type { Actor } from './audit/event.ts'
import { guarded } from './decide.ts'
import { findAccessToken, findAppToken, findEmbeddedSession, findServiceKey, findSession } from './find-token.ts'
import type { Platform, Trace } from './platform.ts'
import { isSecretUseUnrecorded } from '../domain/credential.ts'
import { recordIdOfKey } from '../domain/identifier.ts'
import { parseIpAddress } from '../domain/ip-address.ts'
import { isFromNetworks, parseStoredRights, serviceKeyStatus, type ServiceRight } from '../domain/service-key.ts'

/** The app behind a live app token. */
export type AppCaller = {
  readonly kind: 'app'
  readonly tokenKey: TimeKey
  readonly credentialId: string
  readonly clientId: string
  readonly environment: Environment
  /** As stored. Hardly a call checks an app token's scopes, so they are not parsed here. */
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
    /** The builder's own ID of the user; null if the builder did not send them. */
    readonly externalId: string | null
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
          user: {
            id: row.userId,
            name: row.userName,
            email: row.userEmail,
            pictureUrl: row.userPictureUrl,
            externalId: row.userExternalId,
          },
        },
  )
}

/** The user behind a live session. */
export type SessionCaller = {
  readonly kind: 'session'
  readonly sessionKey: string
  readonly createdAt: number
  readonly expiresAt: number
  /** When the person proved who they are at the sign-in; null if another service knew them from before. */
  readonly askedAt: number | null
  readonly user: {
    readonly id: string
    readonly name: string
    readonly email: string
    readonly isOperator: boolean
    /** Whether they sign in here with a password. */
    readonly hasPassword: boolean
  }
}

/** Null for anything but a live session of an active user. `address`, if known, is where it is used from. */
export const authenticateSession = (
  platform: Platform,
  text: string,
  now = platform.clock.now(),
  address: string | null = null,
): Awaitable<SessionCaller | null> => {
  const secret = parseSecret('session', text)
  if (secret === null) return null
  return andThen(findSession(platform.database.queries, secret), (row) => {
    if (row === null) return null
    const { session, user } = row
    const { sessionIdle } = platform.lifetimes
    if (!isSessionLive({ ...session, userStatus: user.status }, now, sessionIdle)) return null
    if (isUseUnrecorded(session, now, sessionIdle)) {
      const until = recordedUntil(now, sessionIdle)
      void recordUse(platform, session.key, (q) => q.sessions.use(session.key, now, until, address))
    }
    return {
      kind: 'session',
      sessionKey: session.key,
      createdAt: session.createdAt,
      expiresAt: session.expiresAt,
      askedAt: session.askedAt,
      user: {
        id: user.id,
        name: user.name,
        email: user.email,
        isOperator: user.isOperator,
        hasPassword: user.passwordHash !== noPassword && mayUsePassword(platform.signIn, user.isOperator),
      },
    }
  })
}

/**
 * Records the use of the secret of this key or ID, once for all requests that arrive at the same time. A use that cannot be recorded now
 * is recorded with a later request.
 */
export const recordUse = async (
  { database, running }: Platform,
  key: string,
  write: (q: Queries) => Awaitable<unknown>,
): Promise<void> => {
  const name = `use ${key}`
  if (running.has(name)) return
  running.add(name)
  try {
    await database.transaction(write, guarded)
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
export type EmbeddedCaller = Pick<UserCaller, 'appId' | 'clientId' | 'expiresAt'> & {
  readonly kind: 'embedded'
  readonly user: Omit<UserCaller['user'], 'externalId'>
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

/** The builder, by one of its keys. */
export type ServiceCaller = {
  readonly kind: 'service'
  /** The ID of the key, which audit rows name. */
  readonly id: string
  readonly rights: readonly ServiceRight[]
}

/**
 * Null for anything but a live service key that is used from one of its networks. `id`, if the caller names one, must be that
 * of the key.
 */
export const authenticateServiceKey = (
  platform: Platform,
  { address }: Trace,
  text: string,
  { id = null, now = platform.clock.now() }: { readonly id?: string | null; readonly now?: number } = {},
): Awaitable<ServiceCaller | null> => {
  const secret = parseSecret('serviceKey', text)
  if (secret === null) return null
  const keyId = recordIdOfKey('svk_', secret.key)
  if (id !== null && id !== keyId) return null
  return andThen(findServiceKey(platform.database.queries, { key: keyId, hash: secret.hash }), (key) => {
    if (key === null || whyRefused(key, address, now) !== null) return null
    if (isSecretUseUnrecorded(key, now)) void recordUse(platform, key.id, (q) => q.serviceKeys.touch(key.id, now))
    return { kind: 'service', id: key.id, rights: parseStoredRights(key.rights) }
  })
}

/** Why a genuine key is refused, for the audit; null if it is not. */
export const whyRefused = (key: ServiceKey, address: string, now: number): 'ended' | 'suspended' | 'network' | null => {
  const status = serviceKeyStatus(key, now)
  if (status !== 'live') return status
  return isFromNetworks(key.networks, parseIpAddress(address)) ? null : 'network'
}
