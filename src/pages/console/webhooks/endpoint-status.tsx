import type { EndpointRecord } from '../../../operations/webhooks/endpoints.ts'
import { Badge } from '../../components/badges.tsx'

const reasonWords = {
  by_hand: 'Disabled',
  gone: 'Disabled: it answered 410',
  failing: 'Disabled: it took nothing for five days',
} as const

/** Whether an endpoint is sent anything, and why not. */
export const EndpointStatus = ({ reason, failingSince }: Pick<EndpointRecord, 'reason' | 'failingSince'>) => {
  if (reason !== null) return <Badge tone="bad">{reasonWords[reason]}</Badge>
  return failingSince === null ? <Badge tone="good">Enabled</Badge> : <Badge tone="waiting">Enabled, failing</Badge>
}
