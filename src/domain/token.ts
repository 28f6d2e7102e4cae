import type { AppStatus } from './app.ts'
import { isUnended } from './credential.ts'
import { isValidAt } from './lifetimes.ts'
import type { UserStatus } from './user.ts'

/** What an app token's life depends on: itself, the secret that minted it, and the app (spec section 5, point 6). */
type AppTokenState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly revokedAt: number | null
  readonly credentialRevokedAt: number | null
  readonly credentialExpiresAt: number | null
  readonly appStatus: AppStatus
}

/** Whether the token works at this moment (epoch milliseconds), as far as the row tells. */
export const isAppTokenLive = (token: AppTokenState, nowMs: number): boolean =>
  isValidAt(token, nowMs) &&
  token.revokedAt === null &&
  // A secret is suspended together with the end of every token, so its suspension need not be read here.
  isUnended({ revokedAt: token.credentialRevokedAt, expiresAt: token.credentialExpiresAt }, nowMs) &&
  token.appStatus === 'active'

/**
 * What a user access token's life depends on: itself, its grant, the app and the user (spec section 5, point 6). It
 * must belong to the grant's current pair: a refresh ends the access token it replaces (contract section 3).
 */
type UserAccessTokenState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly grantCurrentKey: string
  readonly grantRevokedAt: number | null
  readonly appStatus: AppStatus
  readonly userStatus: UserStatus
}

/** Whether the token of this key works at this moment (epoch milliseconds), as far as the row tells. */
export const isUserAccessTokenLive = (key: string, token: UserAccessTokenState, nowMs: number): boolean =>
  isValidAt(token, nowMs) &&
  token.grantCurrentKey === key &&
  token.grantRevokedAt === null &&
  token.appStatus === 'active' &&
  token.userStatus === 'active'

/** What a refresh token's life depends on: itself, its grant, the app and the user (spec section 5, point 6). */
type RefreshTokenState = {
  readonly createdAt: number
  readonly expiresAt: number
  readonly grant: { readonly currentKey: string; readonly revokedAt: number | null }
  readonly appStatus: AppStatus
  readonly userStatus: UserStatus
}

/** Whether the token of this key could be refreshed at this moment (epoch milliseconds): it is alive and not spent. */
export const isRefreshTokenLive = (key: string, token: RefreshTokenState, nowMs: number): boolean =>
  isValidAt(token, nowMs) &&
  token.grant.currentKey === key &&
  token.grant.revokedAt === null &&
  token.appStatus === 'active' &&
  token.userStatus === 'active'
