import type { AppStatus } from './app.ts'
import type { UserStatus } from './user.ts'
import { isValidAt } from './validity.ts'

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
