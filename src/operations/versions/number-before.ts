import { refuse } from '../../domain/errors.ts'

/**
 * The number below which the next page of versions starts, from its cursor (null: from the newest).
 * @throws invalid_request for a cursor that no list of versions gave
 */
export const numberBefore = (cursor: string | null): number => {
  if (cursor === null) return Number.MAX_SAFE_INTEGER
  if (!/^[1-9]\d{0,14}$/.test(cursor)) throw refuse('invalid_request', { param: 'cursor' })
  return Number(cursor)
}
