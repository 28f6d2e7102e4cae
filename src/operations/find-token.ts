/**
 * Finds the row of a secret. Every check of a token, code or client secret goes through `findBySecret`, so this is where
 * hashes are compared in constant time and where a wrong secret costs the same as an unknown one.
 */
import type { AppInvitation, Queries } from '../../db/database.ts'
import { andThen, type Awaitable } from '../domain/awaitable.ts'
import {
  isTimeKeyed,
  type ParsedSecret,
  type ParsedToken,
  parseSecret,
  parseToken,
  sameHash,
  type SecretHash,
  secretKindOf,
  type TimeKeyedKind,
  type UuidKeyedKind,
} from '../domain/secret.ts'
import { withoutScopes } from '../domain/scope.ts'
import type { TimeKey } from '../domain/time-key.ts'

type Keyed<Key> = { readonly key: Key; readonly hash: SecretHash }

/**
 * The row of the key if it holds the hash of the secret; otherwise null. A right secret costs one read. A wrong one costs
 * one read of an existing row, one of a missing row and one comparison, whether or not its key exists, so that the
 * time taken does not tell. `oldestKey` gives the key of an existing row, or null if the table is empty.
 */
export const findBySecret = <Key extends number | string, Row>(
  secret: Keyed<Key>,
  find: (key: Key) => Awaitable<Row | null>,
  oldestKey: () => Awaitable<Key | null>,
  hashOf: (row: Row) => SecretHash,
): Awaitable<Row | null> =>
  andThen(find(secret.key), (row) => {
    if (row !== null && sameHash(hashOf(row), secret.hash)) return row
    // No row has this key: those of tokens are positive numbers, and all others are texts.
    const noKey = (typeof secret.key === 'number' ? -1 : '') as Key
    return andThen(oldestKey(), (oldest) =>
      andThen(find(row === null ? (oldest ?? noKey) : noKey), (other) => {
        if (other !== null) sameHash(hashOf(other), secret.hash)
        return null
      }),
    )
  })

/** An app token in whatever state, with its credential, client and app. */
export const findAppToken = (q: Queries, secret: Keyed<TimeKey>) =>
  andThen(
    findBySecret(secret, q.appTokens.find, q.appTokens.oldestKey, (row) => row.hash),
    withoutLost,
  )

/** A user access token in whatever state, with its grant, app and user. */
export const findAccessToken = (q: Queries, secret: Keyed<TimeKey>) =>
  andThen(
    findBySecret(secret, q.grants.findAccess, q.grants.oldestPairKey, (row) => row.hash),
    withoutLost,
  )

/**
 * A token with the scopes that it still has. A scope that was retired or taken from the app is lost to all of its tokens at once: the
 * row that they are checked by says so, also for a token that was being issued at that moment, and on every server.
 */
const withoutLost = <Row extends { readonly scopes: string; readonly lostScopes: string | null }>(
  row: Row | null,
): Row | null =>
  row === null || row.lostScopes === null ? row : { ...row, scopes: withoutScopes(row.scopes, row.lostScopes) }

/** A refresh token, spent or not, with its grant and the state of its user. */
export const findRefreshToken = (q: Queries, secret: Keyed<TimeKey>) =>
  findBySecret(secret, q.grants.findPair, q.grants.oldestPairKey, ({ pair }) => pair.refreshHash)

/** An authorization code, spent or not, with its grant and the state of its user. */
export const findAuthorizationCode = (q: Queries, secret: Keyed<TimeKey>) =>
  findBySecret(secret, q.grants.findCode, q.grants.oldestCodeKey, ({ code }) => code.hash)

/** An install-session code, spent or not, with the install, app, user and user session it depends on. */
export const findInstallSessionCode = (q: Queries, secret: Keyed<string>) =>
  findBySecret(secret, q.embedding.findCode, q.embedding.oldestCodeKey, ({ code }) => code.hash)

/** An embedded session in whatever state, with its install, app, user and user session. */
export const findEmbeddedSession = (q: Queries, secret: Keyed<string>) =>
  findBySecret(secret, q.embedding.findSession, q.embedding.oldestSessionKey, ({ session }) => session.hash)

/** A session in whatever state, with its user. */
export const findSession = (q: Queries, secret: Keyed<string>) =>
  findBySecret(secret, q.sessions.find, q.sessions.oldestKey, ({ session }) => session.hash)

/** A client secret in whatever state, with its client and app. The key is the ID of the credential. */
export const findClientSecret = (q: Queries, secret: Keyed<string>) =>
  findBySecret(secret, q.credentials.find, q.credentials.oldestId, ({ credential }) => credential.secretHash)

/** A service key in whatever state. The key is its ID. */
export const findServiceKey = (q: Queries, secret: Keyed<string>) =>
  findBySecret(secret, q.serviceKeys.find, q.serviceKeys.oldestId, ({ secretHash }) => secretHash)

/** A link with which a person sets a password, in whatever state. The key is its ID. */
export const findPasswordLink = (q: Queries, secret: Keyed<string>) =>
  findBySecret(secret, q.passwordLinks.find, q.passwordLinks.oldestId, ({ hash }) => hash)

/** An invitation to an app, in whatever state, by the link that was shown or the one in the last mail. The key is its ID. */
export const findAppInvitation = async (q: Queries, secret: Keyed<string>) => {
  const by = (hashOf: (row: AppInvitation) => SecretHash) =>
    findBySecret(secret, q.appInvitations.find, q.appInvitations.oldestId, hashOf)
  return (await by(({ hash }) => hash)) ?? (await by(({ hash, mailedHash }) => mailedHash ?? hash))
}

/** A well-formed secret of the kind that its prefix names. */
export type PresentedSecret =
  (ParsedSecret & { readonly kind: UuidKeyedKind }) | (ParsedToken & { readonly kind: TimeKeyedKind })

/** Parses and hashes a secret of any kind; null when it is malformed. */
export const parseAnySecret = (text: string): PresentedSecret | null => {
  const kind = secretKindOf(text)
  if (kind === null) return null
  if (isTimeKeyed(kind)) {
    const token = parseToken(kind, text)
    return token && { kind, ...token }
  }
  const secret = parseSecret(kind, text)
  return secret && { kind, ...secret }
}
