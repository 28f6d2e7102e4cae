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
