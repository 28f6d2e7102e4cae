/** A page of a list: how many at most, and the position after which it starts (null: from the beginning). */
export type PageRequest = { readonly limit: number; readonly cursor: string | null }
/** `nextCursor` is null on the last page. */
export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null }
