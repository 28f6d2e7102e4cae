import { refuse } from '../../../domain/errors.ts'
import { badInput } from '../../../operations/decision.ts'
import type { AuditSearch } from '../../../operations/audit/search-events.ts'
import { queryOf } from '../query.ts'
import { readMoment } from '../../words.ts'

/** The filters as they were typed. */
export const auditFields = ['app', 'actor', 'kind', 'action', 'outcome', 'request', 'since', 'until'] as const
export type AuditFields = Readonly<Record<(typeof auditFields)[number], string>>

export const actorKinds = ['app', 'user', 'operator', 'anonymous', 'system'] as const
export const outcomes = ['done', 'refused'] as const

/** @throws invalid_request for a filter that comes more than once */
export const auditFieldsOf = (request: Request): AuditFields => ({
  app: queryOf(request, 'app'),
  actor: queryOf(request, 'actor'),
  kind: queryOf(request, 'kind'),
  action: queryOf(request, 'action'),
  outcome: queryOf(request, 'outcome'),
  request: queryOf(request, 'request'),
  since: queryOf(request, 'since'),
  until: queryOf(request, 'until'),
})

/**
 * What the filters mean; times are read as UTC.
 * @throws invalid_request that names the filter at fault
 */
export const readSearch = (fields: AuditFields): AuditSearch => ({
  app: given(fields.app),
  actorKind: oneOf(actorKinds, fields.kind, 'kind'),
  actor: given(fields.actor),
  action: given(fields.action),
  outcome: oneOf(outcomes, fields.outcome, 'outcome'),
  requestId: requestOf(fields.request),
  since: momentOf(fields.since, 'since'),
  until: momentOf(fields.until, 'until'),
})

const given = (text: string): string | null => (text === '' ? null : text)

const requestOf = (text: string): string | null => {
  if (text === '') return null
  if (!/^req_[0-9a-f]{32}$/.test(text)) throw badInput('request', 'A request ID is req_ and 32 of 0-9 and a-f.')
  return text
}

const momentOf = (text: string, param: string): number | null => {
  if (text === '') return null
  const moment = readMoment(text)
  if (moment === null) throw badInput(param, 'A time is 2026-08-01 or 2026-08-01T12:00, in UTC.')
  return moment
}

/** A select has nothing else to offer, so another value is no mistake of a person's. */
const oneOf = <T extends string>(values: readonly T[], text: string, param: string): T | null => {
  const found = values.find((value) => value === text)
  if (text !== '' && found === undefined) throw refuse('invalid_request', { param })
  return found ?? null
}
