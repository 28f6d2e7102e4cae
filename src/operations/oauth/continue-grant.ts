/**
 * Exchanges an authorization code or a refresh token for the next pair of tokens of its grant. Both are one move: the grant
 * names its only current code or refresh token, everything else of its family has been spent (domain/grant.ts).
 *
 * The checks run in the order of the contract (section 3), in the transaction that issues, and the presented secret is
 * spent last by a conditional update. So of any number of racing calls exactly one wins, and a call that fails a check
 * spends nothing.
 */
import type { AuthorizationCode, Grant, Queries } from '../../../db/database.ts'
import { andThen, type Awaitable, handled } from '../../domain/awaitable.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { decideContinuation, grantEndsAt } from '../../domain/grant.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { verifierMatches } from '../../domain/pkce.ts'
import { redirectUriMatches } from '../../domain/registered-url.ts'
import { formatScope, isSubset, type ParsedScope, parseScope, parseStoredScope } from '../../domain/scope.ts'
import { type ParsedToken, parseToken, sameHash } from '../../domain/secret.ts'
import type { TimeKey } from '../../domain/time-key.ts'
import type { UserStatus } from '../../domain/user.ts'
import { type AuditStamp, lazyAuditStamp, recordEvent } from '../audit/event.ts'
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  presentClient,
  recordUse,
  refuseClient,
  refuseKnownClient,
} from '../authenticate-client.ts'
import { sharedTime } from '../clock.ts'
import { conditionalTransaction, CountedRefusal, ifKeyTaken, ReusedSecret, settle } from '../decision.ts'
import { findAuthorizationCode, findRefreshToken } from '../find-token.ts'
import type { Platform, Trace } from '../platform.ts'
import {
  derivePair,
  grantStep,
  type IssuedTokens,
  issuedTokens,
  type MintedPair,
  pairRow,
  prepareNext,
} from './token-pair.ts'

type CodeExchange = ClientCredentials & {
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string
}

/**
 * Exchanges an authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.6). `retryIdentity` is the idempotency key
 * and the body as one text if the client may repeat the request; otherwise null.
 * @throws invalid_client, app_inactive, invalid_grant
 */
export const exchangeCode = async (
  platform: Platform,
  trace: Trace,
  request: CodeExchange,
  retryIdentity: string | null,
): Promise<IssuedTokens> =>
  await continueGrant(platform, trace, {
    kind: 'authorization_code',
    action: 'authorization_code.exchange',
    client: request,
    secret: request.code,
    redirectUri: request.redirectUri,
    codeVerifier: request.codeVerifier,
    retryIdentity,
  })

type RefreshRequest = ClientCredentials & {
  readonly refreshToken: string
  /** May only narrow the scopes of the grant (RFC 6749 section 6); null keeps them. */
  readonly scope: string | null
}

/**
 * Rotates a refresh token: it and its access token end, and a new pair is issued (spec section 5). `retryIdentity` as in
 * `exchangeCode`.
 * @throws invalid_client, app_inactive, invalid_grant, invalid_scope
 */
export const refreshTokens = async (
  platform: Platform,
  trace: Trace,
  request: RefreshRequest,
  retryIdentity: string | null,
): Promise<IssuedTokens> =>
  await continueGrant(platform, trace, {
    kind: 'refresh_token',
    action: 'refresh_token.rotate',
    client: request,
    secret: request.refreshToken,
    asked: request.scope === null ? null : parseScope(request.scope),
    retryIdentity,
  })

/** A code or refresh token that a client presents. */
type Presented = {
  readonly action: 'authorization_code.exchange' | 'refresh_token.rotate'
  readonly client: ClientCredentials
  readonly secret: string
  readonly retryIdentity: string | null
} & (
  | { readonly kind: 'authorization_code'; readonly redirectUri: string; readonly codeVerifier: string }
  | { readonly kind: 'refresh_token'; readonly asked: ParsedScope | null }
)

const continueGrant = async (platform: Platform, trace: Trace, presented: Presented): Promise<IssuedTokens> => {
  const now = platform.clock.now()
  const windowNow = sharedTime(platform, now) // another server may get the repeated request
  const { action, kind } = presented
  const presentedClient = presentClient(presented.client)
  const secret = parseToken(kind === 'refresh_token' ? 'refreshToken' : 'authorizationCode', presented.secret)
  const next = prepareNext(platform, presented.secret, presented.retryIdentity, now)
  const stamp = lazyAuditStamp(platform, trace, now)

  const decided = conditionalTransaction(
    platform,
    async (q): Promise<IssuedTokens | PlatformError | CountedRefusal | ReusedSecret> => {
      const authenticated = authenticateClient(q, presentedClient, now)
      const search = () => (secret === null ? null : find(q, presented, secret))
      // An engine on another machine is asked for both at once.
      const early = authenticated instanceof Promise ? handled(search()) : null
      const client = await authenticated
      if (client === null) return await refuseClient(q, presentedClient, action)
      if (client.appStatus !== 'active') return refuseKnownClient(client, action, refuse('app_inactive'))

      const found = await (early ?? search())
      if (found === null) return new CountedRefusal(refuse('invalid_grant'), { ...trailOf(client, null), action })
      const { grant } = found
      const attempt = { q, client, grant, presented, stamp, now }
      // Whether this very call has spent the secret before, and the store has lost its answer.
      const own = grant.currentKey === next.pair.key && grant.revokedAt === null
      const answered = own ? await storedAnswer(attempt, next.pair) : null
      if (answered !== null) return answered
      const endsAt = grantEndsAt(grant, platform.lifetimes.grant)
      const claim = {
        key: found.key,
        clientId: client.clientId,
        expired: !isValidAt(found, now) || endsAt - now < shortestLifetimeMs,
        userActive: found.userStatus === 'active',
        fingerprint: next.retry?.fingerprint ?? null,
      }
      const decision = decideContinuation(grant, claim, windowNow)
      if (decision.kind === 'refused') return await refuseGrant(attempt, refuse('invalid_grant'))
      if (decision.kind === 'reused') return await endFamily(attempt)
      if (decision.kind === 'replay') return await repeatAnswer(attempt, decision.salt)
      decision.kind satisfies 'continue'

      const fault = faultOf(presented, found)
      if (fault !== null) return await refuseGrant(attempt, fault)

      const row = pairRow(next, grant, scopesOf(presented, grant), endsAt, found.key, trace, now)
      const step = grantStep(next, row, windowNow)
      await recordUse(q, client, now) // first, because nothing may follow the change
      // Spends the secret. False if another call has spent it since it was read.
      if (!(await q.grants.advance(row, step))) return await endFamily(attempt)
      return issuedTokens(next.pair, row, grant, now)
    },
  )
  const outcome = await decided.catch(ifKeyTaken(() => continueGrant(platform, trace, presented)))
  return await settle(platform, stamp, outcome)
}

/** Tokens with less left to live, because their grant ends, are not issued: answers give lifetimes in whole seconds. */
const shortestLifetimeMs = 1_000

/** The presented secret in whatever state, with its grant. */
type Found = {
  /** The key of its row. */
  readonly key: TimeKey
  readonly grant: Grant
  readonly userStatus: UserStatus
  /** When the secret was issued and when it expires. */
  readonly createdAt: number
  readonly expiresAt: number
  /** Null for a refresh token. */
  readonly code: AuthorizationCode | null
  /** The client that the code's redirect URI is registered for now; null for none. */
  readonly redirectClientId: string | null
}

const find = (q: Queries, { kind }: Presented, secret: ParsedToken): Awaitable<Found | null> =>
  kind === 'refresh_token'
    ? andThen(findRefreshToken(q, secret), (found) => {
        if (found === null) return null
        const { grant, userStatus, pair } = found
        return {
          key: pair.key,
          grant,
          userStatus,
          createdAt: pair.createdAt,
          expiresAt: pair.refreshExpiresAt,
          code: null,
          redirectClientId: null,
        }
      })
    : andThen(findAuthorizationCode(q, secret), (found) => {
        if (found === null) return null
        const { grant, userStatus, code, redirectClientId } = found
        const { createdAt } = grant
        return { key: code.key, grant, userStatus, createdAt, expiresAt: code.expiresAt, code, redirectClientId }
      })

/** An authenticated client with a genuine secret, in the transaction that decides what becomes of it. */
type GrantAttempt = {
  readonly q: Queries
  readonly client: AuthenticatedClient
  readonly grant: Grant
  readonly presented: Presented
  readonly stamp: () => AuditStamp
  readonly now: number
}

/**
 * Refuses without spending anything. A refused attempt of the grant's own client closes the retry window (contract
 * section 3). Then the audit row is written in the same transaction, so that no crash can leave a closed window without
 * its reason. It needs no limit: a window closes once.
 */
const refuseGrant = async (
  { q, client, grant, presented, stamp }: GrantAttempt,
  fault: PlatformError,
): Promise<PlatformError | CountedRefusal> => {
  const facts = { ...trailOf(client, grant), action: presented.action }
  if (grant.clientId !== client.clientId || grant.retryKey === null) return new CountedRefusal(fault, facts)
  await q.grants.closeRetry(grant.id)
  await recordEvent(q, stamp(), { ...facts, refusedWith: fault.code })
  return fault
}

/** A spent secret ends its grant: anyone who holds it may hold the current one too (RFC 6749 §4.1.2, RFC 9700 §4.14.2). */
const endFamily = async ({ q, client, grant, presented, stamp, now }: GrantAttempt): Promise<ReusedSecret> => {
  await q.grants.revoke(grant.id, now)
  const detail = { presented: presented.kind, revoked: true }
  const facts = { action: 'grant.reuse_detected', refusedWith: 'invalid_grant', detail } as const
  await recordEvent(q, stamp(), { ...trailOf(client, grant), ...facts })
  return new ReusedSecret(presented.kind)
}

/** The answer with the current pair of the grant; null if it is not this one. */
const storedAnswer = async ({ q, grant, now }: GrantAttempt, pair: MintedPair): Promise<IssuedTokens | null> => {
  const row = (await q.grants.findPair(grant.currentKey))?.pair
  if (row === undefined || !sameHash(pair.accessHash, row.accessHash) || !sameHash(pair.refreshHash, row.refreshHash))
    return null
  return issuedTokens(pair, row, grant, now)
}

/** The same tokens again, derived from the presented secret. They must match the stored hashes. */
const repeatAnswer = async (
  attempt: GrantAttempt,
  salt: Uint8Array,
): Promise<IssuedTokens | PlatformError | CountedRefusal> => {
  const { q, client, grant, presented, stamp } = attempt
  const answer = await storedAnswer(attempt, derivePair(grant.currentKey, presented.secret, salt))
  if (answer === null) return await refuseGrant(attempt, refuse('invalid_grant'))
  await recordEvent(q, stamp(), { ...trailOf(client, grant), action: `${presented.action}.repeated` })
  return answer
}

/** The last checks: what the request says about the secret. */
const faultOf = (presented: Presented, { grant, code, redirectClientId }: Found): PlatformError | null => {
  if (presented.kind === 'refresh_token') {
    const { asked } = presented
    if (asked === null) return null
    if (asked.kind === 'refused') return refuse('invalid_scope', { param: 'scope', message: asked.message })
    const isWithin = isSubset(asked.scopes, parseStoredScope(grant.scopes))
    return isWithin ? null : refuse('invalid_scope', { param: 'scope', message: widened })
  }
  const isRight =
    code !== null &&
    // The redirect URI may have been removed since the code was issued.
    redirectClientId === grant.clientId &&
    redirectUriMatches(code.redirectUri, presented.redirectUri) &&
    verifierMatches(presented.codeVerifier, code.codeChallenge)
  return isRight ? null : refuse('invalid_grant')
}

/** RFC 6749 section 6. */
const widened = 'A refresh cannot ask for scopes that the user has not allowed.'

/** The scopes of the access token. */
const scopesOf = (presented: Presented, grant: Grant): string =>
  presented.kind === 'refresh_token' && presented.asked?.kind === 'scopes'
    ? formatScope(presented.asked.scopes)
    : grant.scopes

/** Whose audit trail an event belongs to. Another client's grant is not named in this client's trail. */
const trailOf = (client: AuthenticatedClient, grant: Grant | null) => ({
  actor: { kind: 'app', id: client.clientId } as const,
  appId: client.appId,
  environment: client.environment,
  target: grant !== null && grant.clientId === client.clientId ? grant.id : null,
})
