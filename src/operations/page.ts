import type { SearchWindow } from '../../db/database.ts'
import { isWellFormedText } from '../domain/text.ts'

/** Which page of a list: its length at most, and the position after which it starts (null for the first page). */
export type PageRequest = { readonly limit: number; readonly cursor: string | null }
/** `nextCursor` is null on the last page. */
export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null }

/** Sorts after every ID. The first page of a list that begins with the newest starts here. */
export const beyondEveryId = '~'

/** The page of these rows. One row more than the limit was read, to tell whether this is the last page. */
export const pageOf = <T>(rows: readonly T[], limit: number, positionOf: (row: T) => string): Page<T> => {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  return { data, nextCursor: last === undefined ? null : positionOf(last) }
}

/** One page of a list that begins with the newest. `read` gets the ID before which the page starts and its length. */
export const newestFirst = async <T extends { readonly id: string }>(
  { limit, cursor }: PageRequest,
  read: (before: string, rows: number) => Promise<readonly T[]>,
): Promise<Page<T>> => pageOf(await read(cursor ?? beyondEveryId, limit + 1), limit, ({ id }) => id)

/** What a search found among the rows it read; `searchedTo` is null if those were the last. */
type Finds<T> = { readonly found: readonly T[]; readonly searchedTo: string | null }

/** Rows that one page of a search reads. Reading them blocks other requests for some milliseconds. */
const rowsPerPage = 10_000

/** No name or address is longer, so a longer text finds nothing. */
const longestPart = 254

/**
 * One page of a search that reads a bounded number of rows. A page may have few results or none and still have a next
 * page, where the search continues. Text that is not well-formed finds nothing.
 */
export const searchPage = async <T>(
  look: (part: string, window: SearchWindow) => Promise<Finds<T>>,
  part: string,
  { limit, cursor }: PageRequest,
  positionOf: (row: T) => string,
): Promise<Page<T>> => {
  if (part.length > longestPart || !isWellFormedText(part)) return { data: [], nextCursor: null }
  const { found, searchedTo } = await look(part, { after: cursor ?? '', rows: rowsPerPage, limit: limit + 1 })
  const { data, nextCursor } = pageOf(found, limit, positionOf)
  return { data, nextCursor: nextCursor ?? searchedTo }
}
