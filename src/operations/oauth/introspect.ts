import type { Queries } from '../../../db/database.ts'
import { isAppTokenLive, isRefreshTokenLive, isUserAccessTokenLive } from '../../domain/token.ts'
import { grantEndsAt } from '../../domain/grant.ts'
import { auditStamp } from '../audit/event.ts'
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  isUseUnrecorded,
  presentClient,
  recordUse,
} from '../clients/authenticate-client.ts'
import { refuseClient } from '../clients/refuse-client.ts'
import { decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findAccessToken, findAppToken, findRefreshToken } from '../tokens/find-token.ts'

/** What a client learns of a live token of its own. */
export type TokenFacts = {
  readonly kind: 'app_token' | 'access_token' | 'refresh_token'
  /** The user who granted it; the client itself for an app token. */
  readonly subject: string
  readonly clientId: string
  readonly scope: string
  /** Epoch milliseconds. */
  readonly issuedAt: number
  readonly expiresAt: number
}

type Introspection = { readonly appId: string; readonly token: TokenFacts | null }

/**
 * Tells a client about a token that was issued to it and works now (RFC 7662). Null for everything else, so that it
 * cannot be told apart: malformed, unknown, expired, spent, revoked, of another client, of the app's other environment, of a
 * suspended app or a disabled user. All is read from committed state; only a refusal and the minute of the last use
 * are written.
 * @throws invalid_client
 */
export const introspect = async (
  platform: Platform,
  trace: Trace,
  credentials: ClientCredentials,
  text: string,
): Promise<Introspection> => {
  const { database } = platform
  const now = platform.clock.now()
  const presented = presentClient(credentials)
  const stamp = auditStamp(platform, trace, now)
  const client = await authenticateClient(database.queries, presented, now)
  if (client === null) {
    return await decide(
      database,
      async (q) => await refuseClient(q, platform.refusals, stamp, 'token.introspect', presented),
    )
  }
  if (isUseUnrecorded(client, now)) await decide(database, async (q) => done(await recordUse(q, client, now)))
  const token = await find(database.queries, text, client, now, platform.lifetimes.grant)
  return { appId: client.appId, token: token?.clientId === client.clientId ? token : null }
}

/** A live token, whosever it is. The prefix says where to look: one read at most. */
const find = async (
  q: Queries,
  text: string,
  client: AuthenticatedClient,
  now: number,
  grantSeconds: number,
): Promise<TokenFacts | null> =>
  (await findLiveAppToken(q, text, now)) ??
  (await findLiveAccessToken(q, text, now)) ??
  (await findLiveRefreshToken(q, text, client, now, grantSeconds))

const findLiveAppToken = async (q: Queries, text: string, now: number): Promise<TokenFacts | null> => {
  const found = await findAppToken(q, text)
  if (found === null || !isAppTokenLive(found.row, now)) return null
  const { clientId, scopes, createdAt, expiresAt } = found.row
  return { kind: 'app_token', subject: clientId, clientId, scope: scopes, issuedAt: createdAt, expiresAt }
}

const findLiveAccessToken = async (q: Queries, text: string, now: number): Promise<TokenFacts | null> => {
  const found = await findAccessToken(q, text)
  if (found === null || !isUserAccessTokenLive(found.key, found.row, now)) return null
  const { clientId, userId, scopes, createdAt, expiresAt } = found.row
  return { kind: 'access_token', subject: userId, clientId, scope: scopes, issuedAt: createdAt, expiresAt }
}

/** Its scope is the grant's: what it can still be turned into, however narrow the access token beside it is. */
const findLiveRefreshToken = async (
  q: Queries,
  text: string,
  { appId, appStatus }: AuthenticatedClient,
  now: number,
  grantSeconds: number,
): Promise<TokenFacts | null> => {
  const found = await findRefreshToken(q, text)
  if (found === null || found.row.grant.appId !== appId) return null
  const { pair, grant, userStatus } = found.row
  const { createdAt } = pair
  const expiresAt = Math.min(pair.refreshExpiresAt, grantEndsAt(grant, grantSeconds))
  const state = { createdAt, expiresAt, grant, appStatus, userStatus }
  if (!isRefreshTokenLive(found.key, state, now)) return null
  const { clientId, userId, scopes } = grant
  return { kind: 'refresh_token', subject: userId, clientId, scope: scopes, issuedAt: createdAt, expiresAt }
}
