import type { Awaitable } from '../domain/awaitable.ts'
import { type ErrorCode, type PlatformError, refuse } from '../domain/errors.ts'
import { type SecretKind, secretKindOf } from '../domain/secret.ts'
import type { Platform, TokenKind } from '../operations/platform.ts'
import {
  type AppCaller,
  authenticateAppToken,
  authenticateEmbeddedSession,
  authenticateSession,
  authenticateUserToken,
  type EmbeddedCaller,
  recordRefusal,
  type SessionCaller,
  type UserCaller,
  findRefused,
} from '../operations/authenticate.ts'
import { wrongOrigin } from '../operations/embedding/exchange-install-session-code.ts'
import type { Door } from './door.ts'
import { takeFailure, takeShare } from './limits.ts'
import type { Call } from './call.ts'

export type BearerCaller = AppCaller | UserCaller | SessionCaller | EmbeddedCaller

/** Kinds of tokens that a bearer header may carry, and what refusals of each are counted as. */
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
  (platform: Platform, text: string) => Awaitable<BearerCaller | null>
>

/**
 * The caller behind the bearer token of a request, whatever kind it is; one read.
 * @throws the code when there is no live token
 */
export const requireBearer = async (
  door: Door,
  call: Call,
  code: 'invalid_token' | 'login_required',
): Promise<BearerCaller> => {
  const { authorization } = call
  if (authorization.kind === 'none') throw refuse(code)
  const token = authorization.kind === 'bearer' ? authorization.token : ''
  const kind = bearerKindOf(token)
  const caller = kind === null ? null : await authenticate(door, call, kind, token)
  if (caller !== null) return caller
  throw await refuseBearer(door, call, code, kind === null ? 'unknown' : bearerKinds[kind], token)
}

const authenticate = (door: Door, call: Call, kind: BearerKind, token: string): Awaitable<BearerCaller | null> =>
  kind === 'embeddedSession' ? authenticatePage(door, call, token) : authenticators[kind](door.platform, token)

/**
 * An embedded session is good on pages of its one origin alone, and they may read what it is answered, also that it is over.
 * @throws origin_not_allowed for a live one from anywhere else
 */
const authenticatePage = async (door: Door, call: Call, token: string): Promise<EmbeddedCaller | null> => {
  const { caller, origin } = await authenticateEmbeddedSession(door.platform, token)
  if (origin !== null && origin === call.request.headers.get('origin')) {
    call.openTo = origin
    return caller
  }
  if (caller === null) return null
  await refuseBearer(door, call, 'origin_not_allowed', 'embedded_session', token)
  throw refuse('origin_not_allowed', { message: wrongOrigin })
}

/**
 * The caller behind the request's token, within its app's share of calls. Whether this kind may make the call is a
 * permission, which comes after the body and the query: `appOf`, `userOrPageOf`.
 * @throws invalid_token, rate_limited
 */
export const requireCaller = async (door: Door, call: Call, share: 'read' | 'write'): Promise<BearerCaller> => {
  const caller = await requireBearer(door, call, 'invalid_token')
  const { notes } = call
  if (caller.kind !== 'app') notes.userId = caller.user.id
  if (caller.kind === 'session') return caller
  const appId = caller.kind === 'app' ? caller.app.id : caller.appId
  notes.appId = appId
  notes.clientId = caller.clientId
  if (caller.kind === 'user') notes.grantId = caller.grantId
  takeShare(door, call, share, appId)
  return caller
}

/** @throws token_type_not_allowed for a live token of another kind */
export const appOf = (caller: BearerCaller): AppCaller => {
  if (caller.kind !== 'app') throw refuse('token_type_not_allowed')
  return caller
}

/** Who acts for a user. @throws token_type_not_allowed for a live token of another kind */
export const userOrPageOf = (caller: BearerCaller): UserCaller | EmbeddedCaller => {
  if (caller.kind !== 'user' && caller.kind !== 'embedded') throw refuse('token_type_not_allowed')
  return caller
}

/**
 * The refusal of a credential in a header or cookie, with its audit row. Too many that were never issued, from one
 * address, are cut off; one that was, or that is so old that it cannot be told, counts nowhere: whoever presents it has
 * to see the 401 that says to refresh.
 */
export const refuseBearer = async (
  door: Door,
  call: Call,
  code: ErrorCode,
  kind: TokenKind,
  token: string,
): Promise<PlatformError> => {
  const presented = await findRefused(door.platform, token)
  if (presented.kind === 'never issued') takeFailure(door, call, '')
  door.platform.observe.refused(kind)
  await recordRefusal(door.platform, call, presented, code)
  return refuse(code)
}
