import { badInput } from '../operations/decide.ts'
import { date } from './list.ts'
import { readMoment } from './words.ts'

/** The two filters of a list that can be narrowed to a period. */
export const periodFields = { since: date('From (UTC)'), until: date('Before (UTC)') } as const

/**
 * The period that they name, in UTC. Call it inside `found` of the list, so that a refusal is told beside the filter.
 * @throws invalid_request, naming the filter, for what is no time, and for a period that ends before it begins
 */
export const periodOf = (fields: { readonly since: string; readonly until: string }) => {
  const since = momentOf(fields.since, 'since')
  const until = momentOf(fields.until, 'until')
  if (since !== null && until !== null && since >= until) {
    throw badInput('until', 'The end must be after the beginning. A day begins at 00:00 UTC.')
  }
  return { since, until }
}

const momentOf = (text: string, param: string): number | null => (text === '' ? null : timeOf(text, param))

/** The time in a field, in UTC. @throws invalid_request, naming the field, for what is no time */
export const timeOf = (text: string, param: string): number => {
  const moment = readMoment(text)
  if (moment === null) throw badInput(param, 'Write a time as 2026-08-01 or 2026-08-01T12:00, in UTC.')
  return moment
}
