import { and, type AnyColumn, asc, count, desc, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type DrizzleConnection, only } from './connection.ts'

/**
 * Where a part of a list is: after this position in the order of the list, or before it (`backFrom`). A list that is read
 * back gives the rows next to the position first.
 */
export type Place<Position = string> = Position | { readonly backFrom: Position }

/** The order of a list by a unique column. */
export type ListOrder = 'ascending' | 'descending'

/** The order of a list by ID, which is that of the time. */
export type TimeOrder = 'newest' | 'oldest'

export const listOrderOf = (order: TimeOrder): ListOrder => (order === 'newest' ? 'descending' : 'ascending')

/** The condition and the order with which a part of a list is read. The position is not part of it. */
export const beside = (column: AnyColumn, order: ListOrder, place: Place<string | number> | Place<SQL>) => {
  const isBack = typeof place === 'object' && 'backFrom' in place
  const position = isBack ? place.backFrom : place
  const isUpwards = (order === 'ascending') !== isBack
  return isUpwards
    ? { isBeside: gt(column, position), order: asc(column), upTo: (last: unknown) => lte(column, last) }
    : { isBeside: lt(column, position), order: desc(column), upTo: (last: unknown) => gte(column, last) }
}

/** Part of a search through a list: where it starts, how many rows it reads at most, and how many it finds at most. */
export type SearchWindow = { readonly after: Place; readonly rows: number; readonly limit: number }

/** The rows of a window, in the order in which they are read, and the last one's position; null if no more follow. */
export const lookThrough = async (
  db: DrizzleConnection,
  column: SQLiteColumn,
  listOrder: ListOrder,
  { after, rows }: Pick<SearchWindow, 'after' | 'rows'>,
  scope?: SQL,
) => {
  const { isBeside, order, upTo } = beside(column, listOrder, after)
  const within = and(isBeside, scope)
  const next = db.select({ value: column }).from(column.table).where(within).orderBy(order)
  const last = only(await next.limit(1).offset(rows - 1))
  return {
    isWithin: and(within, last === null ? undefined : upTo(last.value)),
    order,
    searchedTo: last === null ? null : String(last.value),
  }
}

/** How many rows match, and whether all rows were counted; otherwise there may be more. */
export type Counted = { readonly count: number; readonly exact: boolean }

/** Rows that a count reads at most, so that its cost does not depend on the size of the table. */
export const countedRows = 10_000

/** A column that `countIn` counts: a number for each row that meets the condition. */
export const hitOf = (condition: SQL | undefined) =>
  sql<number | null>`CASE WHEN ${condition ?? sql`1 = 1`} THEN 1 END`.as('hit')

/** The columns of such a count over a subquery that has the column `hit`. */
export const hitCounts = (hit: AnyColumn | SQL.Aliased | SQL) => ({ rows: count(), hits: count(hit) })

/** How many of the first rows in a scope meet the condition. */
export const countAmong = async (
  db: DrizzleConnection,
  table: SQLiteTable,
  condition: SQL | undefined,
  scope: SQL | undefined,
  order: readonly SQL[] = [],
): Promise<Counted> => {
  const among = db
    .select({ hit: hitOf(condition) })
    .from(table)
    .where(scope)
    .orderBy(...order)
    .limit(countedRows + 1)
    .as('among')
  const counted = only(await db.select(hitCounts(among.hit)).from(among))
  return { count: counted?.hits ?? 0, exact: (counted?.rows ?? 0) <= countedRows }
}
