import type { Place, SearchWindow, TimeOrder } from '../../db/database.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { isWellFormedText } from '../domain/text.ts'

export type { Counted, TimeOrder } from '../../db/database.ts'

/**
 * Which page of a list: its length at most, and the position beside which it starts (null for the first page): after it, or
 * with the direction `back` before it.
 */
export type PageRequest = {
  readonly limit: number
  readonly cursor: string | null
  readonly direction?: 'onward' | 'back'
}
/** `nextCursor` is null on the last page. */
export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null }
/** A page that also leads back. `previousCursor` is null on the first page. */
export type ListPage<T> = Page<T> & { readonly previousCursor: string | null }

/** The refusal of a cursor that is none of the list. */
export const strangeCursor = (): PlatformError =>
  refuse('invalid_request', { param: 'cursor', message: 'The cursor is not one that this list has given.' })

/** Sorts after every ID. The first page of a list that begins with the newest starts here. */
export const beyondEveryId = '~'

/** The place before the first row of a list by ID. */
export const startOf = (order: TimeOrder): string => (order === 'newest' ? beyondEveryId : '')

/** The page of these rows. One row more than the limit was read, to tell whether this is the last page. */
export const pageOf = <T>(rows: readonly T[], limit: number, positionOf: (row: T) => string): Page<T> => {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  return { data, nextCursor: last === undefined ? null : positionOf(last) }
}

/** What a search found among the rows it read; `searchedTo` is null if those were the last. */
type Finds<T> = { readonly found: readonly T[]; readonly searchedTo: string | null }

/**
 * One page of a list that can be read in both directions. `look` gets the position and how many rows to find. A page before
 * the first rows is the first page, so that going back never ends on a page with a few rows.
 */
export const searchBothWays = async <T>(
  { limit, cursor, direction = 'onward' }: PageRequest,
  look: (cursor: string | null, direction: 'onward' | 'back', rows: number) => Promise<Finds<T>>,
  positionOf: (row: T) => string,
): Promise<ListPage<T>> => {
  const { found, searchedTo } = await look(cursor, direction, limit + 1)
  if (direction === 'onward' || cursor === null) {
    const { data, nextCursor } = pageOf(found, limit, positionOf)
    const [first] = data
    const start = first === undefined ? searchedTo : positionOf(first)
    return { data, nextCursor: nextCursor ?? searchedTo, previousCursor: cursor === null ? null : start }
  }
  if (found.length <= limit && searchedTo === null)
    return await searchBothWays({ limit, cursor: null }, look, positionOf)
  const data = found.slice(0, limit).toReversed()
  const [first, last] = [data[0], data.at(-1)]
  return {
    data,
    nextCursor: last === undefined ? searchedTo : positionOf(last),
    previousCursor: first === undefined || found.length <= limit ? searchedTo : positionOf(first),
  }
}

/**
 * One page of a list. `read` gets the place beside which the page starts and its length. `placeOf` reads a cursor, and gives
 * the place before the first row for null.
 */
export const listPage = async <T, Position = string>(
  request: PageRequest,
  placeOf: (cursor: string | null) => Position,
  read: (place: Place<Position>, rows: number) => Promise<readonly T[]>,
  positionOf: (row: T) => string,
): Promise<ListPage<T>> => {
  const look = async (cursor: string | null, direction: 'onward' | 'back', rows: number) => {
    const position = placeOf(cursor)
    return { found: await read(direction === 'back' ? { backFrom: position } : position, rows), searchedTo: null }
  }
  return await searchBothWays(request, look, positionOf)
}

/** One page of a list that begins with the newest. `read` gets the ID beside which the page starts and its length. */
export const newestFirst = async <T extends { readonly id: string }>(
  request: PageRequest,
  read: (place: Place, rows: number) => Promise<readonly T[]>,
): Promise<ListPage<T>> => await listPage(request, newestPlace, read, ({ id }) => id)

/** The place of a cursor in a list that begins with the newest. */
export const newestPlace = (cursor: string | null): string => cursor ?? beyondEveryId

/** Rows that one page of a search reads. Reading them blocks other requests for some milliseconds. */
export const searchedRows = 10_000

/** No name or address is longer, so a longer text finds nothing. */
const longestPart = 254

/** Whether a text could be part of a name or an address. A text that is not well-formed is part of none. */
export const canBeFound = (part: string): boolean => part.length <= longestPart && isWellFormedText(part)

/**
 * One page of a search that reads a bounded number of rows. A page may have few results or none and still have a next
 * page, where the search continues. `first` is the place before the first row.
 */
export const searchPage = async <T>(
  request: PageRequest,
  first: string,
  look: (window: SearchWindow) => Promise<Finds<T>>,
  positionOf: (row: T) => string,
): Promise<ListPage<T>> => {
  const lookBeside = async (cursor: string | null, direction: 'onward' | 'back', limit: number) => {
    const position = cursor ?? first
    return await look({ after: direction === 'back' ? { backFrom: position } : position, rows: searchedRows, limit })
  }
  return await searchBothWays(request, lookBeside, positionOf)
}

/** A page without rows, and their count. */
export const emptyPage = { data: [], nextCursor: null, previousCursor: null } as const
export const none = { count: 0, exact: true } as const

/** One page of a list that is in memory as a whole, because it is short. Positions are unique. */
export const pageInMemory = <T>(
  rows: readonly T[],
  { limit, cursor, direction = 'onward' }: PageRequest,
  positionOf: (row: T) => string,
): ListPage<T> => {
  const at = cursor === null ? -1 : rows.findIndex((row) => positionOf(row) === cursor)
  const start = direction === 'back' ? Math.max(0, at - limit) : at + 1
  const data = rows.slice(start, start + limit)
  const [first, last] = [data[0], data.at(-1)]
  return {
    data,
    nextCursor: last !== undefined && start + limit < rows.length ? positionOf(last) : null,
    previousCursor: first !== undefined && start > 0 ? positionOf(first) : null,
  }
}
