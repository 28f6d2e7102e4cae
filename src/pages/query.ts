import type { ComponentChildren } from 'preact'
import { pageRequest, refuseRepeated, wireCursor } from '../http/wire.ts'
import { isFromSameOrigin } from '../http/session-cookie.ts'
import type { PageRequest } from '../operations/page.ts'
import type { Visit } from './visit.ts'

const rowsPerPage = '50'

/**
 * The part of a list that the address asks for. On a page with several lists each list has its own parameter.
 * @throws invalid_request for a cursor of another list
 */
export const listPart = ({ call: { request } }: Pick<Visit, 'call'>, list: string, param = 'cursor'): PageRequest => {
  refuseRepeated(request, [param])
  const asked = new URL(request.url).searchParams.get(param)
  const { limit, cursor } = pageRequest(list, { limit: rowsPerPage, ...(asked === null ? {} : { cursor: asked }) })
  return cursor?.startsWith(backMark) === true
    ? { limit, cursor: cursor.slice(backMark.length), direction: 'back' }
    : { limit, cursor }
}

/** Sorts before every position that a list has: marks a cursor that leads back. */
export const backMark = '<'

/** The address with these parameters; empty ones are left out. */
export const listPath = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const filled = Object.entries(query).flatMap(([name, value = '']): [string, string][] =>
    value === '' ? [] : [[name, value]],
  )
  return filled.length === 0 ? path : `${path}?${new URLSearchParams(filled).toString()}`
}

/** The address of the next part; null at the end of the list. */
export const olderPath = (path: string, list: string, position: string | null, param = 'cursor'): string | null => {
  const cursor = wireCursor(list, position)
  return cursor === null ? null : listPath(path, { [param]: cursor })
}

/** The address of a list as it is shown, for its forms: they lead back to the same filters and the same page. */
export const addressOf = ({ call: { request } }: Pick<Visit, 'call'>): string => {
  const { pathname, searchParams } = new URL(request.url)
  searchParams.delete('done')
  return listPath(pathname, Object.fromEntries(searchParams))
}

/**
 * Where a form of a list leads when it is done: the address that its field `back` has, if that is an address of this list, and
 * the list itself otherwise. So it leads to no other page and to no other site. `said` is what the address then says besides.
 */
export const backTo = (
  path: string,
  back: string | undefined,
  said: Readonly<Record<string, string>> & { readonly done: string },
): string => {
  const [pathname, search = ''] = (back ?? '').split('?', 2)
  const kept = pathname === path ? Object.fromEntries(new URLSearchParams(search)) : {}
  return listPath(path, { ...kept, ...said })
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

/** The parameters of the address of a page. */
export const parametersOf = ({ url }: Request): Readonly<Record<string, string>> =>
  Object.fromEntries(new URL(url).searchParams)

/** The sentences about what forms have done, by the value of `done` in their redirects. */
export type Notices = Readonly<Record<string, ComponentChildren>>

/**
 * The sentence about what a form has just done, which redirected to `?done=…`. It is shown only to requests from our own
 * pages, so that a link on another site cannot claim that something was done.
 */
export const noticeFor = ({ door, call: { request } }: Pick<Visit, 'call' | 'door'>, sentences: Notices) => {
  const done = new URL(request.url).searchParams.get('done')
  if (done === null || !Object.hasOwn(sentences, done) || !isFromSameOrigin(door, request)) return null
  return sentences[done] ?? null
}
