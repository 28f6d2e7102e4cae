import { refuse } from '../domain/errors.ts'
import type { PageRequest } from '../operations/page.ts'

const limits = { standard: 20, maximum: 100 } as const

/**
 * The page that a query asks for. A cursor is the position in base64url, so that no client reads meaning into it.
 * @throws invalid_request for a limit that is not 1 to 100, or a malformed cursor
 */
export const pageRequest = (query: { readonly limit?: string; readonly cursor?: string }): PageRequest => ({
  limit: query.limit === undefined ? limits.standard : limitFrom(query.limit),
  cursor: query.cursor === undefined ? null : cursorFrom(query.cursor),
})

export const wireCursor = (position: string | null): string | null =>
  position === null ? null : Buffer.from(position).toString('base64url')

const limitFrom = (text: string): number => {
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > limits.maximum) {
    throw refuse('invalid_request', { param: 'limit', details: { minimum: 1, maximum: limits.maximum } })
  }
  return limit
}

const cursorFrom = (text: string): string => {
  const position = Buffer.from(text, 'base64url').toString('latin1')
  const isOurs = text !== '' && text.length <= 256 && Buffer.from(position, 'latin1').toString('base64url') === text
  if (!isOurs) throw refuse('invalid_request', { param: 'cursor' })
  return position
}
