import type { Queries } from '../../../db/database.ts'
import { recordIdOfTime } from '../../domain/identifier.ts'
import { webhookHistoryMs } from '../../domain/webhook-delivery.ts'
import { badInput, decide, type Operation } from '../decide.ts'
import { findEndpoint } from './endpoints.ts'

/** One event, which may be a ping; or all events since a moment (epoch milliseconds) or all given up, without pings. */
export type ResendChoice =
  | { readonly kind: 'one'; readonly eventId: string }
  | { readonly kind: 'since'; readonly at: number }
  | { readonly kind: 'failed' }

/** How many deliveries one transaction restarts, so that no other write waits for long. */
const resentAtOnce = 500

/**
 * Makes deliveries to an endpoint due again, under the same event IDs and with all their attempts ahead. Returns how
 * many. A disabled endpoint gets them when it is enabled.
 * @throws invalid_request for an unknown endpoint or event, or a moment more than 30 days ago
 */
export const resendEvents: Operation<
  { readonly id: string; readonly choice: ResendChoice },
  { readonly id: string; readonly resent: number }
> = async (platform, trace, actor, { id, choice }) => {
  if (choice.kind === 'since' && choice.at < platform.clock.now() - webhookHistoryMs) {
    throw badInput('since', 'Events are kept for 30 days.')
  }
  let resent = 0
  let after = 0
  for (;;) {
    const from = after
    const batch = await decide(platform, trace, { actor }, async ({ q, now, record }) => {
      const { endpoint } = await findEndpoint(q, id)
      const positions = await positionsOf(q, id, choice, from)
      if (positions === null) return badInput('event', 'This endpoint has no such event.')
      if (positions.length === 0) return positions
      await q.webhookEvents.restart(id, positions, now)
      const { appId, environment } = endpoint
      const detail = { choice: choice.kind, events: positions.length }
      await record({ action: 'webhook.resent', appId, environment, target: id, detail })
      return positions
    })
    resent += batch.length
    after = batch.at(-1) ?? after
    if (choice.kind === 'one' || batch.length < resentAtOnce) return { id, resent }
  }
}

/** Null when the one event was never meant for the endpoint. */
const positionsOf = async (
  q: Queries,
  id: string,
  choice: ResendChoice,
  after: number,
): Promise<readonly number[] | null> => {
  switch (choice.kind) {
    case 'one': {
      const event = await q.webhookEvents.find(choice.eventId)
      if (event === null || (await q.webhookEvents.findDelivery(event.position, id)) === null) return null
      return [event.position]
    }
    case 'since':
      return await q.webhookEvents.positionsSince(id, recordIdOfTime('evt_', choice.at), after, resentAtOnce)
    case 'failed':
      return await q.webhookEvents.failedPositions(id, after, resentAtOnce)
    default:
      return choice satisfies never
  }
}
