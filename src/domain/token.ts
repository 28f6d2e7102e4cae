import type { AppStatus } from './app.ts'
import { isUnended } from './credential.ts'
import { isValidAt } from './lifetimes.ts'
import { withoutScopes } from './scope.ts'
import type { TimeKey } from './time-key.ts'
import type { UserStatus } from './user.ts'

/** A token without any scope that its app has not lost is good for nothing. */
const hasLostAll = ({ scopes, lostScopes }: Pick<AppTokenState, 'scopes' | 'lostScopes'>): boolean =>
  lostScopes !== null && withoutScopes(scopes, lostScopes) === ''

/** What an app token depends on: its own row, the secret that it was issued to, and the app (spec section 5, point 6). */
type AppTokenState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly revokedAt: number | null
  readonly credentialRevokedAt: number | null
  readonly credentialExpiresAt: number | null
  readonly appStatus: AppStatus
  readonly scopes: string
  readonly lostScopes: string | null
}

/** Whether the token works at this moment (epoch milliseconds). */
export const isAppTokenLive = (token: AppTokenState, nowMs: number): boolean =>
  isValidAt(token, nowMs) &&
  token.revokedAt === null &&
  !hasLostAll(token) &&
  // Suspending secrets ends all tokens as well, so their suspension need not be read here.
  isUnended({ revokedAt: token.credentialRevokedAt, expiresAt: token.credentialExpiresAt }, nowMs) &&
  token.appStatus === 'active'

/**
 * What an access or refresh token of a user depends on: its own row, its grant, the app and the user (spec section 5, point 6).
 * It must belong to the grant's current pair: a refresh ends the pair that it replaces (contract section 3).
 */
type UserTokenState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly grantCurrentKey: TimeKey
  readonly grantRevokedAt: number | null
  readonly appStatus: AppStatus
  readonly userStatus: UserStatus
  readonly scopes: string
  readonly lostScopes: string | null
}

/** Whether the token of this key works at this moment (epoch milliseconds). */
export const isUserTokenLive = (key: TimeKey, token: UserTokenState, nowMs: number): boolean =>
  isValidAt(token, nowMs) &&
  token.grantCurrentKey === key &&
  token.grantRevokedAt === null &&
  !hasLostAll(token) &&
  token.appStatus === 'active' &&
  token.userStatus === 'active'
