import { createHash } from 'node:crypto'
import type { Grant, Queries, TokenPair } from '../../../db/database.ts'
import type { PlatformError } from '../../domain/errors.ts'
import { decideContinuation, retryWindowMs } from '../../domain/grant.ts'
import { rowKey } from '../../domain/identifier.ts'
import { sameHash } from '../../domain/secret.ts'
import { auditStamp } from '../audit/event.ts'
import { authenticateClient, type ClientCredentials, presentClient, recordUse } from '../clients/authenticate-client.ts'
import { refuseClient, refuseSuspended } from '../clients/refuse-client.ts'
import { type Decision, decide, done } from '../decision.ts'
import type { Platform, TokenKind, Trace } from '../platform.ts'
import { type Attempt, endFamily, type IssuedTokens, refuseAttempt, repeatAnswer, tellTokens } from './attempt.ts'
import { derivePair, mintPair } from './token-pair.ts'

/** What asks a grant to go on: a code or a refresh token, presented by a client. */
export type Continuation<Found extends FoundSecret> = {
  readonly client: ClientCredentials
  readonly secret: string
  /** The key inside the secret; empty when it is malformed. */
  readonly key: string
  readonly action: 'authorization_code.exchange' | 'refresh_token.rotate'
  readonly tokenKind: TokenKind
  /** The idempotency key and the body as one text, when the client may repeat the request; else null. */
  readonly retryIdentity: string | null
  /** Finds what was presented, whatever state it is in; null when key and hash do not meet. */
  find(q: Queries): Promise<Found | null>
  /** The last checks before it is spent. */
  check(found: Found): PlatformError | null
  /** The scopes of the access token. */
  scopes(grant: Grant): string
}

export type FoundSecret = {
  readonly grant: Grant
  readonly expiresAt: number
  readonly userStatus: 'active' | 'disabled'
}

/**
 * Spends a code or refresh token and issues the pair that follows it. Everything is checked first and the presented
 * secret is spent last, by a conditional update in the transaction that issues: one winner out of any number of
 * racing calls. One spent before, presented by its own client, ends the family (RFC 6749 §4.1.2, RFC 9700 §4.14.2),
 * unless it is the same request again within the retry window, which gets the very same tokens.
 * @throws invalid_client, app_inactive, invalid_grant, and what `check` refuses with
 */
export const continueGrant = async <Found extends FoundSecret>(
  platform: Platform,
  trace: Trace,
  continuation: Continuation<Found>,
): Promise<IssuedTokens> => {
  const now = platform.clock.now()
  const presentedClient = presentClient(continuation.client)
  const retry = retryOf(platform, continuation.retryIdentity)
  const pair =
    retry === null
      ? mintPair(platform, now)
      : derivePair(rowKey(platform.random.uuid(now)), continuation.secret, retry.salt)
  const stamp = auditStamp(platform, trace, now)

  return await decide(platform.database, async (q): Promise<Decision<IssuedTokens>> => {
    const client = await authenticateClient(q, presentedClient, now)
    if (client === null) return await refuseClient(q, stamp, continuation.action, presentedClient)
    if (client.appStatus !== 'active') return await refuseSuspended(q, stamp, continuation.action, client)
    const { secret, action, tokenKind } = continuation
    const attempt: Attempt = { q, stamp, client, now, secret, action, tokenKind }
    const found = await continuation.find(q)
    if (found === null) return await refuseAttempt(attempt, null)
    const { grant } = found
    const presented = {
      key: continuation.key,
      clientId: client.clientId,
      expired: now >= found.expiresAt,
      userActive: found.userStatus === 'active',
      fingerprint: retry?.fingerprint ?? null,
    }
    const decision = decideContinuation(grant, presented, now, sameHash)
    switch (decision.kind) {
      case 'refused':
        return await refuseAttempt(attempt, grant)
      case 'reused':
        platform.observe.reused(continuation.tokenKind)
        return await endFamily(attempt, grant)
      case 'replay':
        return await repeatAnswer(attempt, grant, decision.salt)
      case 'continue': {
        const fault = continuation.check(found)
        if (fault !== null) return await refuseAttempt(attempt, grant, fault)
        const row: TokenPair = {
          key: pair.key,
          grantId: grant.id,
          previousKey: continuation.key,
          accessHash: pair.accessHash,
          refreshHash: pair.refreshHash,
          scopes: continuation.scopes(grant),
          createdAt: now,
          accessExpiresAt: now + platform.lifetimes.accessToken * 1000,
          refreshExpiresAt: now + platform.lifetimes.refreshToken * 1000,
          requestId: trace.requestId,
          address: trace.address,
        }
        const won = await q.grants.advance(grant.id, continuation.key, {
          currentKey: pair.key,
          expiresAt: Math.max(row.accessExpiresAt, row.refreshExpiresAt),
          retryKey: retry === null ? null : continuation.key,
          retrySalt: retry?.salt ?? null,
          retryFingerprint: retry?.fingerprint ?? null,
          retryUntil: retry === null ? null : now + retryWindowMs,
        })
        if (!won) return await endFamily(attempt, grant)
        await q.grants.insertPair(row)
        await recordUse(q, client, now)
        return done(tellTokens(pair, row, grant, now))
      }
      default:
        return decision satisfies never
    }
  })
}

/** What the grant remembers for a minute so that a lost answer can be asked for again; no token is among it. */
const retryOf = (platform: Platform, identity: string | null) =>
  identity === null
    ? null
    : { salt: platform.random.bytes(32), fingerprint: createHash('sha256').update(identity).digest() }
