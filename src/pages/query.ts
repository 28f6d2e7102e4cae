import { pageRequest, refuseRepeated, wireCursor } from '../http/page-request.ts'
import { isFromSameOrigin } from '../http/session-cookie.ts'
import type { Page, PageRequest } from '../operations/page.ts'
import type { Visit } from './visit.ts'

const rowsPerPage = '50'

/**
 * The part of a list that the address asks for. On a page with several lists each list has its own parameter.
 * @throws invalid_request for a cursor of another list
 */
export const listPart = ({ call: { request } }: Pick<Visit, 'call'>, list: string, param = 'cursor'): PageRequest => {
  refuseRepeated(request, [param])
  const cursor = new URL(request.url).searchParams.get(param)
  return pageRequest(list, cursor === null ? { limit: rowsPerPage } : { limit: rowsPerPage, cursor })
}

/** The address of the next part; null at the end of the list. `query` holds the other parameters of the page; empty ones are left out. */
export const olderPath = (
  path: string,
  list: string,
  position: string | null,
  query: Readonly<Record<string, string>> = {},
  param = 'cursor',
): string | null => {
  const cursor = wireCursor(list, position)
  if (cursor === null) return null
  const filled = Object.entries({ ...query, [param]: cursor }).filter(([, value]) => value !== '')
  return `${path}?${new URLSearchParams(filled).toString()}`
}

type ListPlace = {
  /** The name of the list in its cursors. */
  readonly list: string
  /** The address of its page, and the other parameters of that address. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** The parameter of its cursor. On a page with several lists each list has its own. */
  readonly param?: string
}

/** Some rows of a list, and the address of the next ones; null at the end of the list. */
export type ListPart<Row> = { readonly rows: readonly Row[]; readonly olderHref: string | null }

/**
 * Reads the part of a list that the address asks for.
 * @throws invalid_request for a cursor of another list
 */
export const readList = async <Row>(
  visit: Visit,
  { list, path, query, param }: ListPlace,
  read: (part: PageRequest) => Promise<Page<Row>>,
): Promise<ListPart<Row>> => {
  const { data, nextCursor } = await read(listPart(visit, list, param))
  return { rows: data, olderHref: olderPath(path, list, nextCursor, query, param) }
}

/**
 * The value of a query parameter, trimmed; empty when it is missing.
 * @throws invalid_request when it appears more than once
 */
export const parameterOf = ({ call: { request } }: Pick<Visit, 'call'>, name: string): string => {
  refuseRepeated(request, [name])
  return (new URL(request.url).searchParams.get(name) ?? '').trim()
}

/** The value of a query parameter if it is one of these; null if it is missing or unknown. */
export const choiceParameter = <T extends string>(request: Request, name: string, choices: readonly T[]): T | null => {
  const asked = new URL(request.url).searchParams.get(name)
  return choices.find((choice) => choice === asked) ?? null
}

/** The sentences about what forms have done, by the value of `done` in their redirects. */
export type Notices = Readonly<Record<string, string>>

/**
 * The sentence about what a form has just done, which redirected to `?done=…`. It is shown only to requests from our own
 * pages, so that a link on another site cannot claim that something was done.
 */
export const noticeFor = ({ door, call: { request } }: Pick<Visit, 'call' | 'door'>, sentences: Notices) => {
  const done = new URL(request.url).searchParams.get('done')
  if (done === null || !Object.hasOwn(sentences, done) || !isFromSameOrigin(door, request)) return null
  return sentences[done] ?? null
}
