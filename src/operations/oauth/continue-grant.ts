import { createHash } from 'node:crypto'
import type { Grant, Queries, TokenPair } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { decideContinuation, grantEndsAt, retryWindowMs } from '../../domain/grant.ts'
import { type RowKey, rowKey } from '../../domain/identifier.ts'
import type { ParsedSecret } from '../../domain/secret.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import type { UserStatus } from '../../domain/user.ts'
import { auditStamp } from '../audit/event.ts'
import {
  authenticateClient,
  type ClientCredentials,
  presentClient,
  recordUse,
  refuseClient,
  refuseKnownClient,
} from '../authenticate-client.ts'
import { type Decision, decide, done } from '../decision.ts'
import type { Platform, TokenKind, Trace } from '../platform.ts'
import { type Attempt, endFamily, type IssuedTokens, refuseAttempt, repeatAnswer, tellTokens } from './attempt.ts'
import { derivePair, type MintedPair, mintPair } from './token-pair.ts'

/** What asks a grant to go on: a code or a refresh token, presented by a client. */
type Continuation<Found extends FoundSecret> = {
  readonly client: ClientCredentials
  readonly secret: string
  /** The key and the hash of the secret; null when it is malformed. */
  readonly presented: ParsedSecret | null
  readonly action: 'authorization_code.exchange' | 'refresh_token.rotate'
  readonly tokenKind: TokenKind
  /** The idempotency key and the body as one text, when the client may repeat the request; else null. */
  readonly retryIdentity: string | null
  /** Finds what the secret was issued for, whatever state it is in. */
  find(q: Queries, secret: ParsedSecret): Promise<Found | null>
  /** The last checks before it is spent. */
  check(found: Found): PlatformError | null
  /** The scopes of the access token. */
  scopes(grant: Grant): string
}

type FoundSecret = {
  readonly grant: Grant
  readonly createdAt: number
  readonly expiresAt: number
  readonly userStatus: UserStatus
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
  const next = prepareNext(platform, continuation, now)
  const stamp = auditStamp(platform, trace, now)

  return await decide(platform.database, async (q): Promise<Decision<IssuedTokens>> => {
    const client = await authenticateClient(q, presentedClient, now)
    if (client === null) return await refuseClient(q, platform.refusals, stamp, continuation.action, presentedClient)
    if (client.appStatus !== 'active') {
      return await refuseKnownClient(q, platform.refusals, stamp, continuation.action, client, refuse('app_inactive'))
    }
    const { secret, action, tokenKind, presented } = continuation
    const attempt: Attempt = { q, refusals: platform.refusals, stamp, client, now, secret, action, tokenKind }
    const found = presented === null ? null : await continuation.find(q, presented)
    if (presented === null || found === null) return await refuseAttempt(attempt, null)
    const { grant } = found
    const endsAt = grantEndsAt(grant, platform.lifetimes.grant)
    const claim = {
      key: presented.key,
      clientId: client.clientId,
      expired: !isValidAt(found, now) || endsAt - now < shortestLifetimeMs,
      userActive: found.userStatus === 'active',
      fingerprint: next.retry?.fingerprint ?? null,
    }
    const decision = decideContinuation(grant, claim, now)
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
        return fault === null
          ? await spendAndIssue(attempt, grant, presented.key, continuation.scopes(grant), next, endsAt)
          : await refuseAttempt(attempt, grant, fault)
      }
      default:
        return decision satisfies never
    }
  })
}

/** Tokens that would live for less, because their grant ends, are not issued: answers tell lifetimes in whole seconds. */
const shortestLifetimeMs = 1_000

/** What follows if the attempt wins, made before the transaction. */
type Next = {
  readonly pair: MintedPair
  readonly accessExpiresAt: number
  readonly refreshExpiresAt: number
  /** What the grant remembers for a minute so that a lost answer can be asked for again; no token is among it. */
  readonly retry: { readonly salt: Uint8Array; readonly fingerprint: Uint8Array } | null
}

const prepareNext = (
  platform: Platform,
  { secret, retryIdentity }: Pick<Continuation<FoundSecret>, 'secret' | 'retryIdentity'>,
  now: number,
): Next => {
  const ends = {
    accessExpiresAt: now + platform.lifetimes.accessToken * 1000,
    refreshExpiresAt: now + platform.lifetimes.refreshToken * 1000,
  }
  if (retryIdentity === null) return { ...ends, pair: mintPair(platform, now), retry: null }
  const salt = platform.random.bytes(32)
  const fingerprint = createHash('sha256').update(retryIdentity).digest()
  const pair = derivePair(rowKey(platform.random.uuid(now)), secret, salt)
  return { ...ends, pair, retry: { salt, fingerprint } }
}

/** Moves the grant on from the presented key and stores the pair; whoever comes second has presented a spent secret. */
const spendAndIssue = async (
  attempt: Attempt,
  grant: Grant,
  presentedKey: RowKey,
  scopes: string,
  next: Next,
  endsAt: number,
): Promise<Decision<IssuedTokens>> => {
  const { q, stamp, client, now } = attempt
  const { pair, retry } = next
  // Nothing that is issued outlives its grant.
  const accessExpiresAt = Math.min(next.accessExpiresAt, endsAt)
  const refreshExpiresAt = Math.min(next.refreshExpiresAt, endsAt)
  const won = await q.grants.advance(grant.id, presentedKey, {
    currentKey: pair.key,
    expiresAt: Math.max(accessExpiresAt, refreshExpiresAt),
    retryKey: retry === null ? null : presentedKey,
    retrySalt: retry?.salt ?? null,
    retryFingerprint: retry?.fingerprint ?? null,
    retryUntil: retry === null ? null : now + retryWindowMs,
  })
  if (!won) return await endFamily(attempt, grant)
  const row: TokenPair = {
    key: pair.key,
    grantId: grant.id,
    previousKey: presentedKey,
    accessHash: pair.accessHash,
    refreshHash: pair.refreshHash,
    scopes,
    createdAt: now,
    accessExpiresAt,
    refreshExpiresAt,
    requestId: stamp.requestId,
    address: stamp.address,
  }
  await q.grants.insertPair(row)
  await recordUse(q, client, now)
  return done(tellTokens(pair, row, grant, now))
}
