import type { Environment } from '../../domain/app.ts'
import { isAppTokenLive } from '../../domain/token.ts'
import type { Platform } from '../platform.ts'
import { findAppToken } from './find-token.ts'

/** The app behind a live app token. */
export type AppCaller = {
  readonly kind: 'app'
  readonly tokenKey: string
  readonly credentialId: string
  readonly clientId: string
  readonly environment: Environment
  /** As the store has them: this check is the hottest of all, and the scopes are only told. */
  readonly scope: string
  readonly expiresAt: number
  readonly app: { readonly id: string; readonly name: string; readonly slug: string; readonly createdAt: number }
}

/** One prepared read of committed state; null for anything but a live token. */
export const authenticateAppToken = async (platform: Platform, text: string): Promise<AppCaller | null> => {
  const found = await findAppToken(platform.database.queries, text)
  if (found === null || !isAppTokenLive(found.row, platform.clock.now())) return null
  const { key, row } = found
  return {
    kind: 'app',
    tokenKey: key,
    credentialId: row.credentialId,
    clientId: row.clientId,
    environment: row.environment,
    scope: row.scopes,
    expiresAt: row.expiresAt,
    app: { id: row.appId, name: row.appName, slug: row.appSlug, createdAt: row.appCreatedAt },
  }
}
