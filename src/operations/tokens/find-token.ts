import type { Queries } from '../../../db/database.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { parseSecret, type SecretKind } from '../../domain/secret.ts'
import { findBySecret, type RowsOfSecrets } from './find-by-secret.ts'

type FoundToken<Row> = { readonly key: RowKey; readonly row: Row }

/**
 * The row of a secret of this kind, dead or alive, with what its life depends on; null when the text is not one or was
 * never issued. One read for what was, none for a malformed text.
 */
const find = async <Row>(kind: SecretKind, text: string, rows: RowsOfSecrets<Row>): Promise<FoundToken<Row> | null> => {
  const secret = parseSecret(kind, text)
  if (secret === null) return null
  const row = await findBySecret(rows, secret)
  return row === null ? null : { key: secret.key, row }
}

/** An app token with its credential, client and app. */
export const findAppToken = (q: Queries, text: string) =>
  find('appToken', text, { find: q.appTokens.find, oldest: q.appTokens.oldestKey, hashOf: (row) => row.hash })

/** A user access token with its grant, app and user. */
export const findAccessToken = (q: Queries, text: string) =>
  find('userAccessToken', text, {
    find: q.grants.findAccess,
    oldest: q.grants.oldestPairKey,
    hashOf: (row) => row.hash,
  })

/** A refresh token with its grant and the state of its user. */
export const findRefreshToken = (q: Queries, text: string) =>
  find('refreshToken', text, {
    find: q.grants.findPair,
    oldest: q.grants.oldestPairKey,
    hashOf: ({ pair }) => pair.refreshHash,
  })

/** An authorization code, spent or not, with its grant and the state of its user. */
export const findAuthorizationCode = (q: Queries, text: string) =>
  find('authorizationCode', text, {
    find: q.grants.findCode,
    oldest: q.grants.oldestCodeKey,
    hashOf: ({ code }) => code.hash,
  })

/** An install-session code, spent or not, with what the session stands on that it is exchanged for. */
export const findInstallSessionCode = (q: Queries, text: string) =>
  find('installSessionCode', text, {
    find: q.embedding.findCode,
    oldest: q.embedding.oldestCodeKey,
    hashOf: ({ code }) => code.hash,
  })

/** An embedded session with its install, app, user and the user's own session. */
export const findEmbeddedSession = (q: Queries, text: string) =>
  find('embeddedSession', text, {
    find: q.embedding.findSession,
    oldest: q.embedding.oldestSessionKey,
    hashOf: ({ session }) => session.hash,
  })

/** A session with its user. */
export const findSession = (q: Queries, text: string) =>
  find('session', text, { find: q.sessions.find, oldest: q.sessions.oldestKey, hashOf: ({ session }) => session.hash })
