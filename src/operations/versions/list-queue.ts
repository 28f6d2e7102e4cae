import type { Queries, QueuePlace, WaitingFor } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** A version that waits for an operator, and since when (epoch milliseconds). */
export type QueuedVersion = Omit<Row, 'scopes' | 'since'> & {
  readonly scopes: readonly ScopeName[]
  readonly since: number
}

/**
 * What waits to be reviewed or, approved, to go live; of every app, longest first.
 * @throws invalid_request for a cursor that this list did not give
 */
export const listQueue = async (
  platform: Platform,
  what: WaitingFor,
  { limit, cursor }: PageRequest,
): Promise<Page<QueuedVersion>> => {
  const after = cursor === null ? start : placeFrom(cursor)
  const rows = await platform.database.queries.versions.queue(what, after, limit + 1)
  return pageOf(rows.map(queued), limit, ({ since, id }) => `${since}.${id}`)
}

type Row = Awaited<ReturnType<Queries['versions']['queue']>>[number]

const queued = (row: Row): QueuedVersion => ({
  ...row,
  scopes: parseStoredScope(row.scopes),
  since: row.since ?? 0, // never null in these statuses
})

const start: QueuePlace = { since: -1, id: '' }

const placeFrom = (cursor: string): QueuePlace => {
  const [, since, id] = /^(\d{1,15})\.(ver_[0-9a-f]{32})$/.exec(cursor) ?? []
  if (since === undefined || id === undefined) throw refuse('invalid_request', { param: 'cursor' })
  return { since: Number(since), id }
}
