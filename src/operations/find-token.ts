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

type Keyed<Key> = { readonly key: Key; readonly hash: SecretHash }

/** How the rows of one kind of secret are read. */
type RowsOfSecrets<Key, Row> = {
  find(q: Queries, key: Key): Awaitable<Row | null>
  /** The key of an existing row; null when the table is empty. */
  oldestKey(q: Queries): Awaitable<Key | null>
  /** A key that no row has. */
  readonly noKey: Key
  hashOf(row: Row): SecretHash
}

/**
 * The row of the key if it holds the hash of the secret; otherwise null. A right secret costs one read. A wrong one costs
 * one read of an existing row, one of a missing row and one comparison, whether or not its key exists, so that the
 * time taken does not tell.
 */
export const findBySecret = <Key, Row>(
  q: Queries,
  rows: RowsOfSecrets<Key, Row>,
  secret: Keyed<Key>,
): Awaitable<Row | null> =>
  andThen(rows.find(q, secret.key), (row) =>
    row !== null && sameHash(rows.hashOf(row), secret.hash) ? row : wrongSecret(q, rows, row, secret.hash),
  )

const wrongSecret = async <Key, Row>(q: Queries, rows: RowsOfSecrets<Key, Row>, row: Row | null, hash: SecretHash) => {
  const oldest = await rows.oldestKey(q)
  const other = await rows.find(q, row === null ? (oldest ?? rows.noKey) : rows.noKey)
  if (other !== null) sameHash(rows.hashOf(other), hash)
  return null
}

/** The function that finds the row of one kind of secret. */
const finder =
  <Key, Row>(rows: RowsOfSecrets<Key, Row>) =>
  (q: Queries, secret: Keyed<Key>): Awaitable<Row | null> =>
    findBySecret(q, rows, secret)

/** No row has one of these keys: those of tokens are positive numbers, and all others are texts. */
const noNumber = -1
const noText = ''

/** An app token in whatever state, with its credential, client and app. */
export const findAppToken = finder({
  noKey: noNumber,
  find: (q, key) => q.appTokens.find(key),
  oldestKey: (q) => q.appTokens.oldestKey(),
  hashOf: (row) => row.hash,
})

/** A user access token in whatever state, with its grant, app and user. */
export const findAccessToken = finder({
  noKey: noNumber,
  find: (q, key) => q.grants.findAccess(key),
  oldestKey: (q) => q.grants.oldestPairKey(),
  hashOf: (row) => row.hash,
})

/** A refresh token, spent or not, with its grant and the state of its user. */
export const findRefreshToken = finder({
  noKey: noNumber,
  find: (q, key) => q.grants.findPair(key),
  oldestKey: (q) => q.grants.oldestPairKey(),
  hashOf: ({ pair }) => pair.refreshHash,
})

/** An authorization code, spent or not, with its grant and the state of its user. */
export const findAuthorizationCode = finder({
  noKey: noNumber,
  find: (q, key) => q.grants.findCode(key),
  oldestKey: (q) => q.grants.oldestCodeKey(),
  hashOf: ({ code }) => code.hash,
})

/** An install-session code, spent or not, with the install, app, user and user session it depends on. */
export const findInstallSessionCode = finder({
  noKey: noText,
  find: (q, key) => q.embedding.findCode(key),
  oldestKey: (q) => q.embedding.oldestCodeKey(),
  hashOf: ({ code }) => code.hash,
})

/** An embedded session in whatever state, with its install, app, user and user session. */
export const findEmbeddedSession = finder({
  noKey: noText,
  find: (q, key) => q.embedding.findSession(key),
  oldestKey: (q) => q.embedding.oldestSessionKey(),
  hashOf: ({ session }) => session.hash,
})

/** A session in whatever state, with its user. */
export const findSession = finder({
  noKey: noText,
  find: (q, key) => q.sessions.find(key),
  oldestKey: (q) => q.sessions.oldestKey(),
  hashOf: ({ session }) => session.hash,
})

/** A client secret in whatever state, with its client and app. The key is the ID of the credential. */
export const findClientSecret = finder({
  noKey: noText,
  find: (q, id) => q.credentials.find(id),
  oldestKey: (q) => q.credentials.oldestId(),
  hashOf: ({ credential }) => credential.secretHash,
})

/** A service key in whatever state. The key is its ID. */
export const findServiceKey = finder({
  noKey: noText,
  find: (q, id) => q.serviceKeys.find(id),
  oldestKey: (q) => q.serviceKeys.oldestId(),
  hashOf: ({ secretHash }) => secretHash,
})

/** A link with which a person sets a password, in whatever state. The key is its ID. */
export const findPasswordLink = finder({
  noKey: noText,
  find: (q, id) => q.passwordLinks.find(id),
  oldestKey: (q) => q.passwordLinks.oldestId(),
  hashOf: ({ hash }) => hash,
})

const invitationBy = (hashOf: (row: AppInvitation) => SecretHash) =>
  finder({
    noKey: noText,
    find: (q, id) => q.appInvitations.find(id),
    oldestKey: (q) => q.appInvitations.oldestId(),
    hashOf,
  })
const byShownLink = invitationBy(({ hash }) => hash)
const byMailedLink = invitationBy(({ hash, mailedHash }) => mailedHash ?? hash)

/** An invitation to an app, in whatever state, by the link that was shown or the one in the last mail. The key is its ID. */
export const findAppInvitation = async (q: Queries, secret: Keyed<string>): Promise<AppInvitation | null> =>
  (await byShownLink(q, secret)) ?? (await byMailedLink(q, secret))

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
