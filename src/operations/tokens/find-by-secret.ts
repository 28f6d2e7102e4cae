import type { Awaitable } from '../../domain/awaitable.ts'
import { sameHash, type SecretHash } from '../../domain/secret.ts'

/** Where the rows of one kind of secret lie; a key is whatever finds one of them. */
export type RowsOfSecrets<Row> = {
  find(key: string): Awaitable<Row | null>
  /** The key of a row that is there, or null. */
  oldest(): Awaitable<string | null>
  hashOf(row: Row): SecretHash
}

/** What is asked for in the place of a row that is not there. No key is empty. */
const noKey = ''

/**
 * The row of the key, if it holds the hash of the secret; else null. A refusal reads one row that is there, asks for one
 * that is not, and compares once, whether the key was somebody's or nobody's, so that the time it takes does not tell
 * which. What is right pays nothing for that: it is found in one read.
 */
export const findBySecret = async <Row>(
  rows: RowsOfSecrets<Row>,
  { key, hash }: { readonly key: string; readonly hash: SecretHash },
): Promise<Row | null> => {
  const row = await rows.find(key)
  const holds = row !== null && sameHash(rows.hashOf(row), hash)
  if (holds) return row
  const oldest = await rows.oldest()
  const other = await rows.find(row === null ? (oldest ?? noKey) : noKey)
  if (other !== null) sameHash(rows.hashOf(other), hash)
  return null
}
