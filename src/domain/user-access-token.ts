import type { AppStatus } from './app.ts'
import type { UserStatus } from './user.ts'
import { isValidAt } from './validity.ts'

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
