import type { AppStatus } from './app.ts'
import { isUnended } from './credential.ts'
import { isValidAt } from './validity.ts'

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
