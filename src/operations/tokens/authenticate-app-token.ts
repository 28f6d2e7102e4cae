import type { Environment } from '../../domain/environment.ts'
import { isAppTokenLive } from '../../domain/app-token.ts'
import { parseSecret, sameHash } from '../../domain/secret.ts'
import type { Platform } from '../platform.ts'

/** The app behind a live app token. */
export type AppCaller = {
  readonly kind: 'app'
  readonly tokenKey: string
  readonly credentialId: string
  readonly clientId: string
  readonly environment: Environment
  readonly scopes: string
  readonly expiresAt: number
  readonly app: { readonly id: string; readonly name: string; readonly slug: string; readonly createdAt: number }
}

/** One prepared read of committed state; null for anything but a live token. */
export const authenticateAppToken = async (platform: Platform, text: string): Promise<AppCaller | null> => {
  const token = parseSecret('appToken', text)
  if (token === null) return null
  const found = await platform.database.queries.appTokens.find(token.key)
  if (found === null || !sameHash(found.hash, token.hash)) return null
  if (!isAppTokenLive(found, platform.clock.now())) return null
  return {
    kind: 'app',
    tokenKey: token.key,
    credentialId: found.credentialId,
    clientId: found.clientId,
    environment: found.environment,
    scopes: found.scopes,
    expiresAt: found.expiresAt,
    app: { id: found.appId, name: found.appName, slug: found.appSlug, createdAt: found.appCreatedAt },
  }
}
