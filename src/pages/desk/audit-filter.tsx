import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { AuditSearch } from '../../operations/audit/read-audit.ts'
import { badInput } from '../../operations/decide.ts'
import type { TimeOrder } from '../../operations/page.ts'
import { Field } from '../design/field.tsx'
import { Choices } from '../design/list-tools.tsx'
import { choiceParameter, keysOf, parameterOf, timeOrderOf, timeOrders } from '../query.ts'
import type { Visit } from '../visit.ts'
import { groupsWith } from '../audit-events.tsx'
import { periodOf } from '../audit-period.ts'
import { deskPaths } from './desk-page.tsx'

const actorKinds = ['app', 'user', 'operator', 'anonymous', 'system'] as const
const outcomes = ['done', 'refused'] as const

/** The filters of the audit log as they were typed. @throws invalid_request for a filter that appears more than once */
export const auditFieldsOf = (visit: Visit) => ({
  app: parameterOf(visit, 'app'),
  actor: parameterOf(visit, 'actor'),
  kind: parameterOf(visit, 'kind'),
  action: parameterOf(visit, 'action'),
  target: parameterOf(visit, 'target'),
  outcome: parameterOf(visit, 'outcome'),
  request: parameterOf(visit, 'request'),
  since: parameterOf(visit, 'since'),
  until: parameterOf(visit, 'until'),
  sort: choiceParameter(visit.call.request, 'sort', keysOf(timeOrders)) ?? '',
})

export type AuditFields = Readonly<ReturnType<typeof auditFieldsOf>>

/**
 * The search that the filters describe. Times are in UTC.
 * @throws invalid_request, naming the filter
 */
export const readSearch = (fields: AuditFields): AuditSearch => ({
  ...periodOf(fields),
  order: orderOf(fields),
  app: given(fields.app),
  actorKind: oneOf(actorKinds, fields.kind, 'kind'),
  actor: given(fields.actor),
  action: given(fields.action),
  target: given(fields.target),
  outcome: oneOf(outcomes, fields.outcome, 'outcome'),
  requestId: requestIdOf(fields.request),
})

/** The events of one request are read as they happened. */
export const orderOf = ({ sort, request }: Pick<AuditFields, 'sort' | 'request'>): TimeOrder =>
  timeOrderOf(sort, request === '' ? 'newest' : 'oldest')

const given = (text: string): string | null => (text === '' ? null : text)

const requestIdOf = (text: string): string | null => {
  if (text === '') return null
  if (!/^req_[0-9a-f]{32}$/.test(text)) {
    throw badInput('request', 'A request ID is req_ followed by 32 of the characters 0-9 and a-f.')
  }
  return text
}

/** The form offers only these values, so any other value does not come from a person's typing. */
const oneOf = <T extends string>(values: readonly T[], text: string, param: string): T | null => {
  const found = values.find((value) => value === text)
  if (text !== '' && found === undefined) throw refuse('invalid_request', { param })
  return found ?? null
}

type AuditFilterProps = { readonly fields: AuditFields; readonly error: PlatformError | null }

const kindWords = [
  ['user', 'User'],
  ['operator', 'Operator'],
  ['app', 'App'],
  ['system', 'Platform or builder'],
  ['anonymous', 'Unknown'],
] as const
const outcomeWords = [
  ['done', 'Done'],
  ['refused', 'Refused'],
] as const

/** The form of the filters. The result has an address of its own, which can be kept and shared. */
export const AuditFilterForm = ({ fields, error }: AuditFilterProps) => {
  const text = (name: keyof AuditFields, label: string, placeholder: string, maxLength: number) => (
    <Field label={label} name={name} error={error} input={{ value: fields[name], placeholder, maxLength }} />
  )
  const choice = (name: keyof AuditFields, label: string, options: readonly (readonly [string, string])[]) => (
    <div class="field">
      <Choices name={name} label={label} all="Any" options={options} selected={fields[name]} />
    </div>
  )
  return (
    <search aria-label="Events">
      <form method="get" action={deskPaths.audit} class="event-filter">
        {text('app', 'App', 'Slug', 63)}
        {text('actor', 'Actor', 'Email or ID', 254)}
        {choice('kind', 'Kind of actor', kindWords)}
        {choice('action', 'Event', groupsWith(fields.action, 'operators'))}
        {text('target', 'About', 'ID', 100)}
        {choice('outcome', 'Outcome', outcomeWords)}
        {text('request', 'Request ID', 'req_…', 100)}
        {text('since', 'From (UTC)', '2026-08-01T12:00', 40)}
        {text('until', 'Before (UTC)', '2026-08-02', 40)}
        <div class="field">
          <Choices name="sort" label="Order" options={timeOrders} selected={orderOf(fields)} />
        </div>
        <div class="beside">
          <button type="submit">Show events</button>
          <a href={deskPaths.audit}>Clear</a>
        </div>
      </form>
    </search>
  )
}
