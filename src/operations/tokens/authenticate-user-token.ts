import { parseSecret, sameHash } from '../../domain/secret.ts'
import { isUserAccessTokenLive } from '../../domain/user-access-token.ts'
import type { Platform } from '../platform.ts'

/** The user and the app behind a live user access token. */
export type UserCaller = {
  readonly kind: 'user'
  readonly grantId: string
  readonly appId: string
  readonly clientId: string
  readonly scopes: string
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
  const token = parseSecret('userAccessToken', text)
  if (token === null) return null
  const found = await platform.database.queries.grants.findAccess(token.key)
  if (found === null || !sameHash(found.hash, token.hash)) return null
  if (!isUserAccessTokenLive(token.key, found, platform.clock.now())) return null
  return {
    kind: 'user',
    grantId: found.grantId,
    appId: found.appId,
    clientId: found.clientId,
    scopes: found.scopes,
    expiresAt: found.expiresAt,
    user: { id: found.userId, name: found.userName, email: found.userEmail, pictureUrl: found.userPictureUrl },
  }
}
