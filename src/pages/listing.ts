import { pageRequest, refuseRepeated, wireCursor } from '../http/page-request.ts'
import type { PageRequest } from '../operations/page.ts'

const rowsPerPage = '50'

/**
 * The part of a long list that the address asks for. Where a page has several lists, each has a parameter of its own.
 * @throws invalid_request for a cursor that is not of this list
 */
export const listingOf = (list: string, request: Request, param = 'cursor'): PageRequest => {
  refuseRepeated(request, [param])
  const cursor = new URL(request.url).searchParams.get(param)
  return pageRequest(list, cursor === null ? { limit: rowsPerPage } : { limit: rowsPerPage, cursor })
}

/** The address of the next part; null where the list ends. `query` is what else the address says. */
export const olderPath = (
  path: string,
  list: string,
  position: string | null,
  query: Readonly<Record<string, string>> = {},
  param = 'cursor',
): string | null => {
  const cursor = wireCursor(list, position)
  return cursor === null ? null : `${path}?${new URLSearchParams({ ...query, [param]: cursor }).toString()}`
}
