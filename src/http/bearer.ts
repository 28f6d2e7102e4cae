import { type Awaitable, andThen } from '../domain/awaitable.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { type SecretKind, secretKindOf } from '../domain/secret.ts'
import type { Platform } from '../operations/platform.ts'
import type { TokenKind } from '../runtime/metrics.ts'
import {
  type AppCaller,
  authenticateAppToken,
  authenticateEmbeddedSession,
  authenticateSession,
  authenticateUserToken,
  type EmbeddedCaller,
  type SessionCaller,
  type UserCaller,
} from '../operations/authenticate.ts'
import { findRefused, recordRefusal } from '../operations/refused-token.ts'
import { wrongOrigin } from '../operations/embedding/embedding.ts'
import type { SecurityScheme } from './contract/details.ts'
import type { Door } from './door.ts'
import type { Guard } from './endpoint.ts'
import { takeFailure, takeShare } from './limits.ts'
import type { Call } from './call.ts'

export type BearerCaller = AppCaller | UserCaller | SessionCaller | EmbeddedCaller

/** The kinds of bearer tokens, and what refusals of each are counted as. */
const bearerKinds = {
  appToken: 'app_token',
  userAccessToken: 'user_tokens',
  session: 'session',
  embeddedSession: 'embedded_session',
} as const
type BearerKind = keyof typeof bearerKinds

const isBearerKind = (kind: SecretKind): kind is BearerKind => Object.hasOwn(bearerKinds, kind)
const bearerKindOf = (text: string): BearerKind | null => {
  const kind = secretKindOf(text)
  return kind !== null && isBearerKind(kind) ? kind : null
}

const authenticators = {
  appToken: authenticateAppToken,
  userAccessToken: authenticateUserToken,
  session: authenticateSession,
} as const satisfies Record<
  Exclude<BearerKind, 'embeddedSession'>,
  (platform: Platform, text: string, now: number) => Awaitable<BearerCaller | null>
>

/**
 * The caller behind the bearer token of a request, whatever its kind; one read.
 * @throws the code if there is no live token
 */
export const requireBearer = (
  door: Door,
  call: Call,
  code: 'invalid_token' | 'login_required',
): Awaitable<BearerCaller> => {
  const { authorization } = call
  if (authorization.kind === 'none') throw refuse(code)
  const token = authorization.kind === 'bearer' ? authorization.token : ''
  const kind = bearerKindOf(token)
  const refusal = async (): Promise<never> => {
    throw await refuseBearer(door, call, refuse(code), kind === null ? 'unknown' : bearerKinds[kind], token)
  }
  return kind === null ? refusal() : andThen(authenticate(door, call, kind, token), (caller) => caller ?? refusal())
}

const authenticate = (door: Door, call: Call, kind: BearerKind, token: string): Awaitable<BearerCaller | null> =>
  kind === 'embeddedSession'
    ? authenticatePage(door, call, token)
    : authenticators[kind](door.platform, token, call.now)

/**
 * An embedded session works only on pages of its one origin. They may read the answer, also a refusal.
 * @throws origin_not_allowed for a live one from anywhere else
 */
const authenticatePage = async (door: Door, call: Call, token: string): Promise<EmbeddedCaller | null> => {
  const { caller, origin } = await authenticateEmbeddedSession(door.platform, token, call.now)
  if (origin !== null && origin === call.request.headers.get('origin')) {
    call.openTo = origin
    return caller
  }
  if (caller === null) return null
  const refusal = refuse('origin_not_allowed', { message: wrongOrigin })
  throw await refuseBearer(door, call, refusal, 'embedded_session', token)
}

/**
 * Admits every live bearer token, within its share; a session has none. Whether this kind of token may make the call is
 * a permission, which comes after the query and the body: `appOf`, `userOrPageOf`.
 * @throws invalid_token, rate_limited
 */
export const bearer = (...callers: readonly SecurityScheme[]): Guard<BearerCaller, 'read' | 'write'> => ({
  callers,
  errors: ['invalid_token', 'token_type_not_allowed', 'origin_not_allowed'],
  admit: (door, call, share) =>
    andThen(requireBearer(door, call, 'invalid_token'), (caller) => withinShare(door, call, caller, share)),
})

const withinShare = (door: Door, call: Call, caller: BearerCaller, share: 'read' | 'write'): BearerCaller => {
  if (caller.kind === 'session') call.notes.userId = caller.user.id
  else takeShareOf(door, call, caller, share)
  return caller
}

/**
 * Whose share a token takes from: what the owner of a secret holds counts for its client, which is an app in one environment, and the
 * page of an app in a frame for the install of the person who opened it. So neither a user nor a secret on a laptop can use up what an
 * app needs in production.
 */
const sharerOf = (caller: AppCaller | UserCaller | EmbeddedCaller): string =>
  caller.kind === 'embedded' ? caller.installId : caller.clientId

/** Takes one call from the share of a token, or from another bucket of the same size that `bucket` names. */
export const takeShareOf = (
  door: Door,
  call: Call,
  caller: AppCaller | UserCaller | EmbeddedCaller,
  share: 'read' | 'write',
  bucket = '',
): void => {
  const { notes } = call
  if (caller.kind !== 'app') notes.userId = caller.user.id
  if (caller.kind === 'user') notes.grantId = caller.grantId
  notes.appId = caller.kind === 'app' ? caller.app.id : caller.appId
  notes.clientId = caller.clientId
  takeShare(door, call, share, bucket + sharerOf(caller))
}

/** @throws token_type_not_allowed for a live token of another kind */
export const appOf = (caller: BearerCaller): AppCaller => {
  if (caller.kind !== 'app') throw refuse('token_type_not_allowed')
  return caller
}

/** The same for an app with development credentials; scopes play no part (contract section 3). @throws development_credentials_required */
export const developmentAppOf = (caller: BearerCaller): AppCaller => {
  const app = appOf(caller)
  if (app.environment !== 'development') throw refuse('development_credentials_required')
  return app
}

/** An app that acts for itself or for a user. @throws token_type_not_allowed for a live token of another kind */
export const appOrUserOf = (caller: BearerCaller): AppCaller | UserCaller => {
  if (caller.kind !== 'app' && caller.kind !== 'user') throw refuse('token_type_not_allowed')
  return caller
}

/** A caller who acts for a user. @throws token_type_not_allowed for a live token of another kind */
export const userOrPageOf = (caller: BearerCaller): UserCaller | EmbeddedCaller => {
  if (caller.kind !== 'user' && caller.kind !== 'embedded') throw refuse('token_type_not_allowed')
  return caller
}

/**
 * The refusal of a credential in a header or cookie, with its audit row. Tokens that were never issued count against their
 * address. One that was issued, or is too old to tell, counts nowhere: its owner must see the 401 that says to refresh. `reason` stands in the audit log.
 */
export const refuseBearer = async (
  door: Door,
  call: Call,
  refusal: PlatformError,
  kind: TokenKind,
  token: string,
  reason: string = refusal.code,
): Promise<PlatformError> => {
  const presented = await findRefused(door.platform, call, token)
  if (presented.kind === 'never issued') takeFailure(door, call)
  door.platform.observe.refused(kind)
  await recordRefusal(door.platform, call, presented, reason)
  return refusal
}
