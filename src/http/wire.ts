import type { VersionRecord } from '../operations/versions/version-record.ts'
import { remembered } from '../domain/remembered.ts'
import { refuse } from '../domain/errors.ts'
import { type Page, type PageRequest, strangeCursor } from '../operations/page.ts'

const rememberedTimes = 4096

/**
 * A time on the wire: RFC 3339, UTC, milliseconds. Answers repeat the same times (of apps, of resources), and writing one out
 * takes 0.2 µs, so recent texts are remembered.
 */
export const wireTime = remembered(rememberedTimes, (epochMs: number): string => new Date(epochMs).toISOString())
export const wireTimeOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : wireTime(epochMs))

export const wireVersion = (version: VersionRecord) => ({
  ...version,
  scopes: [...version.scopes],
  rejection: version.rejection === null ? null : { ...version.rejection, items: [...version.rejection.items] },
  createdAt: wireTime(version.createdAt),
  updatedAt: wireTime(version.updatedAt),
  submittedAt: wireTimeOrNull(version.submittedAt),
  reviewedAt: wireTimeOrNull(version.reviewedAt),
  activatedAt: wireTimeOrNull(version.activatedAt),
})

const limits = { standard: 20, maximum: 100 } as const

/**
 * The page of a list that a query asks for. A cursor is the name of its list and a position in base64url: opaque to clients, and
 * refused by other lists.
 * @throws invalid_request for a limit that is not 1 to 100, or a cursor that is malformed or of another list
 */
export const pageRequest = (
  list: string,
  query: { readonly limit?: string; readonly cursor?: string },
): PageRequest => ({
  limit: query.limit === undefined ? limits.standard : limitFrom(query.limit),
  cursor: query.cursor === undefined ? null : cursorFrom(list, query.cursor),
})

/** The rows of the page that a query asks for, on the wire. */
export const wirePage = async <Row, Wire>(
  list: string,
  query: Parameters<typeof pageRequest>[1],
  read: (asked: PageRequest) => Promise<Page<Row>>,
  wire: (row: Row) => Wire,
) => {
  const { data, nextCursor } = await read(pageRequest(list, query))
  return { data: data.map(wire), nextCursor: wireCursor(list, nextCursor) }
}

export const wireCursor = (list: string, position: string | null): string | null =>
  position === null ? null : Buffer.from(`${list} ${position}`).toString('base64url')

export const sentTwice = 'This parameter was sent more than once.'

/** @throws invalid_request for a parameter of these names that comes more than once (RFC 6749 section 3.1) */
export const refuseRepeated = (request: Request, names: readonly string[]): void => {
  const start = request.url.indexOf('?')
  if (start === -1 || !request.url.includes('&', start)) return // one parameter cannot come twice
  const parameters = new URLSearchParams(request.url.slice(start))
  const param = names.find((name) => parameters.getAll(name).length > 1)
  if (param !== undefined) throw refuse('invalid_request', { param, message: sentTwice })
}

const limitFrom = (text: string): number => {
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > limits.maximum) {
    const bounds = { minimum: 1, maximum: limits.maximum }
    throw refuse('invalid_request', { param: 'limit', message: wholeNumberFrom(bounds), details: bounds })
  }
  return limit
}

/** The rule of a number in a query. */
export const wholeNumberFrom = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }): string =>
  `It must be a whole number from ${minimum} to ${maximum}, in decimal digits.`

/** A position can be an email address of 254 characters. */
const longestCursor = 400

const cursorFrom = (list: string, text: string): string => {
  const bytes = text.length > longestCursor ? Buffer.alloc(0) : Buffer.from(text, 'base64url')
  const [, position = ''] = bytes.toString('latin1').split(' ', 2)
  const isOurs = position !== '' && wireCursor(list, position) === text
  if (!isOurs) throw strangeCursor()
  return position
}
