/**
 * Finds the row of a secret. Every check of a token, code or client secret goes through `findBySecret`, so this is where
 * hashes are compared in constant time and where a wrong secret costs the same as an unknown one.
 */
import type { Queries } from '../../db/database.ts'
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

/** How the rows of one kind of secret are read. */
export type RowsOfSecrets<Key, Row> = {
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
  secret: { readonly key: Key; readonly hash: SecretHash },
): Awaitable<Row | null> =>
  andThen(rows.find(q, secret.key), (row) =>
    row !== null && sameHash(rows.hashOf(row), secret.hash) ? row : wrongSecret(q, rows, row, secret.hash),
  )

const wrongSecret = async <Key, Row>(
  q: Queries,
  rows: RowsOfSecrets<Key, Row>,
  row: Row | null,
  hash: SecretHash,
): Promise<null> => {
  const oldest = await rows.oldestKey(q)
  const other = await rows.find(q, row === null ? (oldest ?? rows.noKey) : rows.noKey)
  if (other !== null) sameHash(rows.hashOf(other), hash)
  return null
}

/** The row that a query finds. */
type RowOf<Find extends (key: never) => unknown> = NonNullable<Awaited<ReturnType<Find>>>

const appTokens: RowsOfSecrets<number, RowOf<Queries['appTokens']['find']>> = {
  find: (q, key) => q.appTokens.find(key),
  oldestKey: (q) => q.appTokens.oldestKey(),
  noKey: -1,
  hashOf: (row) => row.hash,
}
const accessTokens: RowsOfSecrets<number, RowOf<Queries['grants']['findAccess']>> = {
  find: (q, key) => q.grants.findAccess(key),
  oldestKey: (q) => q.grants.oldestPairKey(),
  noKey: -1,
  hashOf: (row) => row.hash,
}
const refreshTokens: RowsOfSecrets<number, RowOf<Queries['grants']['findPair']>> = {
  find: (q, key) => q.grants.findPair(key),
  oldestKey: (q) => q.grants.oldestPairKey(),
  noKey: -1,
  hashOf: ({ pair }) => pair.refreshHash,
}
const authorizationCodes: RowsOfSecrets<number, RowOf<Queries['grants']['findCode']>> = {
  find: (q, key) => q.grants.findCode(key),
  oldestKey: (q) => q.grants.oldestCodeKey(),
  noKey: -1,
  hashOf: ({ code }) => code.hash,
}
const installSessionCodes: RowsOfSecrets<string, RowOf<Queries['embedding']['findCode']>> = {
  find: (q, key) => q.embedding.findCode(key),
  oldestKey: (q) => q.embedding.oldestCodeKey(),
  noKey: '',
  hashOf: ({ code }) => code.hash,
}
const embeddedSessions: RowsOfSecrets<string, RowOf<Queries['embedding']['findSession']>> = {
  find: (q, key) => q.embedding.findSession(key),
  oldestKey: (q) => q.embedding.oldestSessionKey(),
  noKey: '',
  hashOf: ({ session }) => session.hash,
}
const sessions: RowsOfSecrets<string, RowOf<Queries['sessions']['find']>> = {
  find: (q, key) => q.sessions.find(key),
  oldestKey: (q) => q.sessions.oldestKey(),
  noKey: '',
  hashOf: ({ session }) => session.hash,
}

/**
 * The same for a token, which may carry a UUID in the place of its key. The key that begins as the UUID does is almost
 * always that of its row; where another row has it, the store knows the key.
 */
const findByToken = <Row>(q: Queries, rows: RowsOfSecrets<number, Row>, token: ParsedToken): Awaitable<Row | null> => {
  const { uuid, hash } = token
  const found = findBySecret(q, rows, token)
  if (uuid === null) return found
  return andThen(found, async (row) => {
    if (row !== null) return row
    const key = await q.keys.moved(uuid)
    return await findBySecret(q, rows, { key: key ?? rows.noKey, hash })
  })
}

/** An app token in whatever state, with its credential, client and app. */
export const findAppToken = (q: Queries, token: ParsedToken) => findByToken(q, appTokens, token)

/** A user access token in whatever state, with its grant, app and user. */
export const findAccessToken = (q: Queries, token: ParsedToken) => findByToken(q, accessTokens, token)

/** A refresh token, spent or not, with its grant and the state of its user. */
export const findRefreshToken = (q: Queries, token: ParsedToken) => findByToken(q, refreshTokens, token)

/** An authorization code, spent or not, with its grant and the state of its user. */
export const findAuthorizationCode = (q: Queries, token: ParsedToken) => findByToken(q, authorizationCodes, token)

/** An install-session code, spent or not, with the install, app, user and user session it depends on. */
export const findInstallSessionCode = (q: Queries, secret: ParsedSecret) => findBySecret(q, installSessionCodes, secret)

/** An embedded session in whatever state, with its install, app, user and user session. */
export const findEmbeddedSession = (q: Queries, secret: ParsedSecret) => findBySecret(q, embeddedSessions, secret)

/** A session in whatever state, with its user. */
export const findSession = (q: Queries, secret: ParsedSecret) => findBySecret(q, sessions, secret)

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
