/**
 * Exchanges an authorization code or a refresh token for the next pair of tokens of its grant. Both are one move: the grant
 * names its only current code or refresh token, everything else of its family has been spent (domain/grant.ts). What a request
 * says about its code stands in `exchangeCode`, about its refresh token in `refreshTokens`; `continueGrant` does the rest.
 *
 * The checks run in the order of the contract (section 3), in the transaction that issues, and the presented secret is
 * spent last by a conditional update. So of any number of racing calls exactly one wins, and a call that fails a check
 * spends nothing.
 *
 * Both engines rely on that one update (`advance` in `db/queries/grants.ts`): it moves the grant on and stores the pair only while the
 * presented secret is the current one and the grant is not revoked. A store may run all of it again, although it has kept the change
 * (`TransactionKind` in `db/database.ts`; how PostgreSQL comes to that stands in `db/postgres/transactions.ts`). Then the presented
 * secret is spent, and the pair of this very request is found in the store (`storedRow`).
 */
import { createHash } from 'node:crypto'
import type { Grant, Queries, TokenPair } from '../../../db/database.ts'
import type { AuditAction } from '../../domain/audit-action.ts'
import { andThen, type Awaitable, handled } from '../../domain/awaitable.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { decideContinuation, grantEndsAt, keyedRetryMs, type Retry } from '../../domain/grant.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { verifierMatches } from '../../domain/pkce.ts'
import { redirectUriMatches } from '../../domain/registered-url.ts'
import { formatScope, isSubset, type ParsedScope, parseScope, parseStoredScope } from '../../domain/scope.ts'
import { deriveSecretDigits, hashSecret, mintSecret, parseToken, sameHash, secretDigits } from '../../domain/secret.ts'
import type { TimeKey } from '../../domain/time-key.ts'
import type { UserStatus } from '../../domain/user.ts'
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  presentClient,
  touchSecret,
  refuseClient,
  refuseKnownClient,
} from '../authenticate-client.ts'
import { sharedTime } from '../clock.ts'
import { CountedRefusal, decide, ifKeyTaken, type OpenChange, ReusedSecret } from '../decide.ts'
import { findAuthorizationCode, findRefreshToken } from '../find-token.ts'
import type { Platform, Trace } from '../platform.ts'

type CodeExchange = ClientCredentials & {
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string
}

/**
 * Exchanges an authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.6). `retryIdentity` is the endpoint, the
 * idempotency key and the fields without the client secret as one text if the client may repeat the request; otherwise null, and
 * the code is strictly single use.
 * @throws invalid_client, app_inactive, invalid_grant
 */
export const exchangeCode = async (
  platform: Platform,
  trace: Trace,
  request: CodeExchange,
  retryIdentity: string | null,
): Promise<IssuedTokens> => {
  const presented = parseToken('authorizationCode', request.code)
  return await continueGrant(platform, trace, {
    kind: 'authorization_code',
    action: 'authorization_code.exchange',
    client: request,
    secret: request.code,
    retry: keyedRetry(retryIdentity),
    find: (q) =>
      andThen(presented && findAuthorizationCode(q, presented), (found) => {
        if (found === null) return null
        const { code, grant, userStatus, registeredUri } = found
        const isRight =
          registeredUri !== null && // it may have been removed since the code was issued
          redirectUriMatches(code.redirectUri, request.redirectUri) &&
          verifierMatches(request.codeVerifier, code.codeChallenge)
        const fault = isRight ? null : refuse('invalid_grant')
        const { key, expiresAt } = code
        return { key, grant, userStatus, createdAt: grant.createdAt, expiresAt, scopes: grant.scopes, fault }
      }),
  })
}

type RefreshRequest = ClientCredentials & {
  readonly refreshToken: string
  /** May only narrow the scopes of the grant (RFC 6749 section 6); null keeps them. */
  readonly scope: string | null
}

/**
 * Rotates a refresh token: it and its access token end, and a new pair is issued (spec section 5). `retryIdentity` as in
 * `exchangeCode`; without it the client may repeat the request for `LIFETIME_REFRESH_RETRY` seconds.
 * @throws invalid_client, app_inactive, invalid_grant, invalid_scope
 */
export const refreshTokens = async (
  platform: Platform,
  trace: Trace,
  request: RefreshRequest,
  retryIdentity: string | null,
): Promise<IssuedTokens> => {
  const presented = parseToken('refreshToken', request.refreshToken)
  const asked = request.scope === null ? null : parseScope(request.scope)
  return await continueGrant(platform, trace, {
    kind: 'refresh_token',
    action: 'refresh_token.rotate',
    client: request,
    secret: request.refreshToken,
    retry: keyedRetry(retryIdentity) ?? unkeyedRetry(platform),
    find: (q) =>
      andThen(presented && findRefreshToken(q, presented), (found) => {
        if (found === null) return null
        const { pair, grant, userStatus } = found
        const scopes = asked?.kind === 'scopes' ? formatScope(asked.scopes) : grant.scopes
        const { key, createdAt, refreshExpiresAt: expiresAt } = pair
        return { key, grant, userStatus, createdAt, expiresAt, scopes, fault: faultOfScope(asked, grant) }
      }),
  })
}

/** RFC 6749 section 6. */
const faultOfScope = (asked: ParsedScope | null, grant: Grant): PlatformError | null => {
  if (asked === null) return null
  if (asked.kind === 'refused') return refuse('invalid_scope', { param: 'scope', message: asked.message })
  const isWithin = isSubset(asked.scopes, parseStoredScope(grant.scopes))
  return isWithin ? null : refuse('invalid_scope', { param: 'scope', message: widened })
}
const widened = 'A refresh cannot ask for scopes that the user has not allowed.'

const keyedRetry = (identity: string | null): Retry | null =>
  identity === null ? null : { fingerprint: createHash('sha256').update(identity).digest(), windowMs: keyedRetryMs }

/** Most OAuth clients send no key. Two workers of one may refresh at once, or an answer may be lost. */
const unkeyedRetry = ({ lifetimes }: Platform): Retry | null =>
  lifetimes.refreshRetry === 0 ? null : { fingerprint: null, windowMs: lifetimes.refreshRetry * 1000 }

/** A code or refresh token that a client presents, to get the next pair. */
type Continuation = {
  readonly kind: 'authorization_code' | 'refresh_token'
  readonly action: AuditAction & ('authorization_code.exchange' | 'refresh_token.rotate')
  readonly client: ClientCredentials
  readonly secret: string
  /** Null if the request cannot be repeated. */
  readonly retry: Retry | null
  /** Null if it was never issued. */
  find(q: Queries): Awaitable<Found | null>
}

/** The presented secret in whatever state, with its grant. */
type Found = {
  /** The key of its row. */
  readonly key: TimeKey
  readonly grant: Grant
  readonly userStatus: UserStatus
  /** When the secret was issued and when it expires. */
  readonly createdAt: number
  readonly expiresAt: number
  /** The scopes that the access token is asked for. */
  readonly scopes: string
  /** What else is wrong with the request; null if nothing is. */
  readonly fault: PlatformError | null
}

const continueGrant = async (platform: Platform, trace: Trace, presented: Continuation): Promise<IssuedTokens> => {
  const now = platform.clock.now()
  const windowNow = sharedTime(platform, now) // another server may get the repeated request
  const { action, retry } = presented
  const presentedClient = presentClient(presented.client)
  const next = prepareNext(platform, presented.secret, retry, now)
  const actor = { kind: 'app', id: presented.client.clientId } as const

  const issued = decide<IssuedTokens>(platform, trace, { actor, now, kind: 'conditional' }, async (change) => {
    const { q } = change
    // Both are asked for at once. The client is judged first.
    const search = handled(presented.find(q))
    const client = await authenticateClient(q, presentedClient, now)
    if (client === null) return await refuseClient(q, presentedClient, action)
    if (client.appStatus !== 'active') return refuseKnownClient(client, action, refuse('app_inactive'))

    const found = await search
    if (found === null) return new CountedRefusal(refuse('invalid_grant'), { ...trailOf(client, null), action })
    const { grant } = found
    const attempt = { change, client, grant, presented }
    const endsAt = grantEndsAt(grant, platform.lifetimes.grant)
    const claim = {
      key: found.key,
      clientId: client.clientId,
      expired: !isValidAt(found, now),
      mayBeContinued: found.userStatus === 'active' && endsAt - now >= shortestLifetimeMs,
      retry,
    }
    const decision = decideContinuation(grant, claim, windowNow)
    switch (decision.kind) {
      case 'refused':
        return await refuseGrant(attempt, refuse('invalid_grant'))
      case 'spent': {
        // By an earlier run of this very request, if its pair is there; else the client may be repeating the last step.
        const row = await storedRow(q, next.pair)
        if (row !== null) return issuedTokens(next.pair, row, grant, now)
        return decision.salt === null ? await endFamily(attempt) : await repeatAnswer(attempt, found, decision.salt)
      }
      case 'continue': {
        if (found.fault !== null) return await refuseGrant(attempt, found.fault)
        const row = pairRow(next, grant, found.scopes, endsAt, found.key, trace, now)
        await touchSecret(q, client, now) // first, because nothing may follow the change
        // Spends the secret. Never false: SQLite runs one body after the other; PostgreSQL does not answer a body without locks that
        // its change was not made, but runs it again with the grant locked since `find`. If a store should break that, the grant ends.
        if (!(await q.grants.advance(row, grantStep(next, row, windowNow)))) return await endFamily(attempt)
        return issuedTokens(next.pair, row, grant, now)
      }
      default:
        return decision satisfies never
    }
  })
  return await issued.catch(ifKeyTaken(() => continueGrant(platform, trace, presented)))
}

/** Tokens with less left to live, because their grant ends, are not issued: answers give lifetimes in whole seconds. */
const shortestLifetimeMs = 1_000

/** An authenticated client with a genuine secret, in the transaction that decides what becomes of it. */
type GrantAttempt = {
  readonly change: OpenChange
  readonly client: AuthenticatedClient
  readonly grant: Grant
  readonly presented: Continuation
}

/**
 * Refuses without spending anything. A refused attempt of the grant's own client closes the retry window (contract
 * section 3). Then the audit row is written in the same transaction, so that no crash can leave a closed window without
 * its reason. It needs no limit: a window closes once.
 */
const refuseGrant = async (
  { change: { q, record }, client, grant, presented }: GrantAttempt,
  fault: PlatformError,
): Promise<PlatformError | CountedRefusal> => {
  const facts = { ...trailOf(client, grant), action: presented.action }
  if (grant.clientId !== client.clientId || grant.retryKey === null) return new CountedRefusal(fault, facts)
  await q.grants.closeRetry(grant.id)
  await record({ ...facts, refusedWith: fault.code })
  return fault
}

/** A spent secret ends its grant: anyone who holds it may hold the current one too (RFC 6749 §4.1.2, RFC 9700 §4.14.2). */
const endFamily = async ({ change, client, grant, presented }: GrantAttempt): Promise<ReusedSecret> => {
  const { q, now, record } = change
  await q.grants.revoke(grant.id, now)
  const detail = { presented: presented.kind, revoked: true }
  const facts = { action: 'grant.reuse_detected', refusedWith: 'invalid_grant', detail } as const
  await record({ ...trailOf(client, grant), ...facts, told: { userId: grant.userId } })
  return new ReusedSecret(presented.kind)
}

/** The row of this pair; null if it is not stored. */
const storedRow = async (q: Queries, pair: MintedPair): Promise<TokenPair | null> => {
  const row = (await q.grants.findPair(pair.key))?.pair
  const isSame =
    row !== undefined && sameHash(pair.accessHash, row.accessHash) && sameHash(pair.refreshHash, row.refreshHash)
  return isSame ? row : null
}

/** The same tokens again, derived from the presented secret. They must match the stored hashes. */
const repeatAnswer = async (
  attempt: GrantAttempt,
  { scopes, fault }: Found,
  salt: Uint8Array,
): Promise<IssuedTokens | PlatformError | CountedRefusal> => {
  const { change, client, grant, presented } = attempt
  const pair = derivePair(grant.currentKey, presented.secret, salt)
  const row = await storedRow(change.q, pair)
  if (row === null) return await refuseGrant(attempt, refuse('invalid_grant'))
  // It asks for something else than the request that it would repeat. That one may still be repeated.
  if (fault !== null || row.scopes !== scopes) {
    return new CountedRefusal(refuse('invalid_grant'), { ...trailOf(client, grant), action: presented.action })
  }
  await change.record({ ...trailOf(client, grant), action: `${presented.action}.repeated` })
  return issuedTokens(pair, row, grant, change.now)
}

/** Whose audit trail an event belongs to. Another client's grant is not named in this client's trail. */
const trailOf = (client: AuthenticatedClient, grant: Grant | null) => ({
  actor: { kind: 'app', id: client.clientId } as const,
  appId: client.appId,
  environment: client.environment,
  target: grant !== null && grant.clientId === client.clientId ? grant.id : null,
})

/** An access token and its refresh token, minted together. They share one row and its key. */
type MintedPair = ReturnType<typeof pairFrom>

const pairFrom = (key: TimeKey, accessDigits: string, refreshDigits: string) => {
  const accessToken = mintSecret({ kind: 'userAccessToken', key, digits: accessDigits })
  const refreshToken = mintSecret({ kind: 'refreshToken', key, digits: refreshDigits })
  return {
    key,
    accessToken,
    accessHash: hashSecret(accessToken),
    refreshToken,
    refreshHash: hashSecret(refreshToken),
  }
}

/** A random pair. */
const mintPair = (platform: Platform, now: number): MintedPair =>
  pairFrom(platform.random.timeKey(now), platform.random.digits(secretDigits), platform.random.digits(secretDigits))

/** The pair that a retry with the same presented secret gets again while the salt is kept (contract section 3). */
const derivePair = (key: TimeKey, presentedSecret: string, salt: Uint8Array): MintedPair =>
  pairFrom(
    key,
    deriveSecretDigits(presentedSecret, salt, 'access'),
    deriveSecretDigits(presentedSecret, salt, 'refresh'),
  )

/** What is issued if the request wins, made before the transaction. */
type NextPair = ReturnType<typeof prepareNext>

const prepareNext = (platform: Platform, secret: string, retry: Retry | null, now: number) => {
  const accessExpiresAt = now + platform.lifetimes.accessToken * 1000
  const refreshExpiresAt = now + platform.lifetimes.refreshToken * 1000
  if (retry === null) return { accessExpiresAt, refreshExpiresAt, pair: mintPair(platform, now), kept: null }
  // What the grant keeps until the window closes, so that the client can ask again for a lost answer. No token is stored.
  const kept = { ...retry, salt: platform.random.bytes(32) }
  return { accessExpiresAt, refreshExpiresAt, pair: derivePair(platform.random.timeKey(now), secret, kept.salt), kept }
}

/** The row of the new pair. Nothing that is issued outlives its grant. */
const pairRow = (
  { pair, accessExpiresAt, refreshExpiresAt }: NextPair,
  grant: Grant,
  scopes: string,
  endsAt: number,
  previousKey: TimeKey,
  { requestId, address }: Trace,
  now: number,
): TokenPair => ({
  key: pair.key,
  grantKey: grant.key,
  previousKey,
  accessHash: pair.accessHash,
  refreshHash: pair.refreshHash,
  scopes,
  createdAt: now,
  accessExpiresAt: Math.min(accessExpiresAt, endsAt),
  refreshExpiresAt: Math.min(refreshExpiresAt, endsAt),
  requestId,
  address,
})

/** What else changes in the grant when it moves on to the new pair. */
const grantStep = ({ kept }: NextPair, row: TokenPair, now: number) => ({
  expiresAt: Math.max(row.accessExpiresAt, row.refreshExpiresAt),
  retryKey: kept === null ? null : row.previousKey,
  retrySalt: kept?.salt ?? null,
  retryFingerprint: kept?.fingerprint ?? null,
  retryUntil: kept === null ? null : now + kept.windowMs,
})

/** The answer to an exchange or refresh. */
export type IssuedTokens = ReturnType<typeof issuedTokens>

/** The answer with this pair: the tokens, and what is left of their lifetimes at `now`. */
const issuedTokens = (pair: MintedPair, row: TokenPair, grant: Grant, now: number) => ({
  accessToken: pair.accessToken,
  expiresInSeconds: wholeSecondsUntil(row.accessExpiresAt, now),
  refreshToken: pair.refreshToken,
  refreshTokenExpiresInSeconds: wholeSecondsUntil(row.refreshExpiresAt, now),
  scope: row.scopes,
  grantId: grant.id,
  appId: grant.appId,
})

const wholeSecondsUntil = (moment: number, now: number): number => Math.max(0, Math.floor((moment - now) / 1000))
