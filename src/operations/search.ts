import type { SearchWindow } from '../../db/database.ts'
import { isWellFormedText } from '../domain/text.ts'
import type { Page, PageRequest } from './page.ts'

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
