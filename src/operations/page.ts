import type { SearchWindow } from '../../db/database.ts'
import { isWellFormedText } from '../domain/text.ts'

/** A page of a list: how many at most, and the position after which it starts (null: from the beginning). */
export type PageRequest = { readonly limit: number; readonly cursor: string | null }
/** `nextCursor` is null on the last page. */
export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null }

/** Stands before every ID in a list that begins with the newest: where its first page starts. */
export const beyondEveryId = '~'

/** The page of a list of which one row more than the limit was read, so that the last page is known as such. */
export const pageOf = <T>(rows: readonly T[], limit: number, positionOf: (row: T) => string): Page<T> => {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  return { data, nextCursor: last === undefined ? null : positionOf(last) }
}

/** What a search found among the rows that it looked at; `searchedTo` is null when those were the last. */
type Finds<T> = { readonly found: readonly T[]; readonly searchedTo: string | null }

/** Rows that one page of a search looks at; reading them stops every other request for some milliseconds. */
const rowsPerPage = 10_000

/** Longer than every name and address, so it finds nothing; nor does text that the store would read as another one. */
const longestPart = 254

/**
 * One page of a search that looks at a bounded number of rows. A page may have few finds or none and still a next one:
 * that is where the search goes on.
 */
export const searchPage = async <T>(
  look: (part: string, window: SearchWindow) => Promise<Finds<T>>,
  part: string,
  { limit, cursor }: PageRequest,
  positionOf: (row: T) => string,
): Promise<Page<T>> => {
  if (part.length > longestPart || !isWellFormedText(part)) return { data: [], nextCursor: null }
  const { found, searchedTo } = await look(part, { after: cursor ?? '', rows: rowsPerPage, limit: limit + 1 })
  const data = found.slice(0, limit)
  const last = found.length > limit ? data.at(-1) : undefined
  return { data, nextCursor: last === undefined ? searchedTo : positionOf(last) }
}
