import type { Queries } from '../../../db/database.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { parseSecret, sameHash, type SecretHash, type SecretKind } from '../../domain/secret.ts'

type FoundToken<Row> = { readonly key: RowKey; readonly row: Row }

/**
 * The row of a secret of this kind, dead or alive, with what its life depends on; null when the text is not one or was
 * never issued. At most one read, and none for a malformed text.
 */
const find = async <Row>(
  kind: SecretKind,
  text: string,
  rowOf: (key: RowKey) => Promise<Row | null>,
  hashOf: (row: Row) => SecretHash,
): Promise<FoundToken<Row> | null> => {
  const secret = parseSecret(kind, text)
  if (secret === null) return null
  const row = await rowOf(secret.key)
  return row !== null && sameHash(hashOf(row), secret.hash) ? { key: secret.key, row } : null
}

type AppTokenRow = NonNullable<Awaited<ReturnType<Queries['appTokens']['find']>>>
type AccessRow = NonNullable<Awaited<ReturnType<Queries['grants']['findAccess']>>>
type PairRow = NonNullable<Awaited<ReturnType<Queries['grants']['findPair']>>>
type EmbeddedRow = NonNullable<Awaited<ReturnType<Queries['embedding']['findSession']>>>
type SessionRow = NonNullable<Awaited<ReturnType<Queries['sessions']['find']>>>

const appTokenHash = (row: AppTokenRow) => row.hash
const accessHash = (row: AccessRow) => row.hash
const refreshHash = (row: PairRow) => row.pair.refreshHash
const embeddedHash = (row: EmbeddedRow) => row.session.hash
const sessionHash = (row: SessionRow) => row.session.hash

/** An app token with its credential, client and app. */
export const findAppToken = (q: Queries, text: string) => find('appToken', text, q.appTokens.find, appTokenHash)

/** A user access token with its grant, app and user. */
export const findAccessToken = (q: Queries, text: string) =>
  find('userAccessToken', text, q.grants.findAccess, accessHash)

/** A refresh token with its grant and the state of its user. */
export const findRefreshToken = (q: Queries, text: string) => find('refreshToken', text, q.grants.findPair, refreshHash)

/** An embedded session with its install, app, user and the user's own session. */
export const findEmbeddedSession = (q: Queries, text: string) =>
  find('embeddedSession', text, q.embedding.findSession, embeddedHash)

/** A session with its user. */
export const findSession = (q: Queries, text: string) => find('session', text, q.sessions.find, sessionHash)
