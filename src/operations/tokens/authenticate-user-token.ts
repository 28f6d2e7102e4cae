import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { isUserAccessTokenLive } from '../../domain/token.ts'
import type { Platform } from '../platform.ts'
import { findAccessToken } from './find-token.ts'

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

/** One prepared read of committed state; null for anything but a live token. */
export const authenticateUserToken = async (platform: Platform, text: string): Promise<UserCaller | null> => {
  const found = await findAccessToken(platform.database.queries, text)
  if (found === null || !isUserAccessTokenLive(found.key, found.row, platform.clock.now())) return null
  const { row } = found
  return {
    kind: 'user',
    grantId: row.grantId,
    appId: row.appId,
    clientId: row.clientId,
    scopes: parseStoredScope(row.scopes),
    expiresAt: row.expiresAt,
    user: { id: row.userId, name: row.userName, email: row.userEmail, pictureUrl: row.userPictureUrl },
  }
}
