import { Type } from '@sinclair/typebox'
import { attemptErrors, disabledReasons, endpointStatuses } from '../../domain/webhook-delivery.ts'
import type { PathParameter } from './details.ts'
import {
  count,
  environment,
  flag,
  model,
  pageModel,
  nullable,
  nullableTime,
  oneOf,
  pageQuery,
  recordId,
  text,
  time,
} from './fields.ts'

export const endpointParameter: PathParameter = {
  name: 'id',
  description: 'ID of the webhook endpoint.',
  example: 'whk_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d',
}

const kind = text('Kind of event.', 'grant.revoked')
const status = nullable(count('HTTP status.', 200), 'HTTP status of the answer; null without one.')
const error = nullable(oneOf(attemptErrors, 'Why there was no answer.'), 'Why there was no answer; null if there was.')
const durationMs = count('How long the call took, in milliseconds.', 84)
const answer = text('Beginning of the answer, as the receiver wrote it. Do not trust it.', 'ok')

const webhookEndpoint = model('WebhookEndpoint', 'A webhook endpoint of the app, without its secrets.', {
  id: recordId('whk', 'The endpoint.'),
  environment,
  url: text('Where events go; parameters are left out, since they may be secret.', 'https://app.example/hooks'),
  kinds: Type.Array(Type.String({ examples: ['grant.revoked'] }), {
    description: 'Kinds of events that it gets.',
    examples: [['grant.revoked', 'install.created']],
  }),
  status: oneOf(endpointStatuses, 'Whether events are sent to it.'),
  reason: nullable(oneOf(disabledReasons, 'Why it is disabled.'), 'Why it is disabled; null if it is not.'),
  failingSince: nullableTime('Since when every attempt failed, if they do.'),
  createdAt: time('When it was registered.'),
  updatedAt: time('When it last changed.'),
})
/** An endpoint of the builder. */
const builderEndpoint = model('BuilderWebhookEndpoint', 'A webhook endpoint of the builder, without its secrets.', {
  ...webhookEndpoint.properties,
})
export const builderEndpointList = pageModel(
  'BuilderWebhookEndpointList',
  'All webhook endpoints of the builder.',
  builderEndpoint,
  'Oldest first.',
)
export const webhookEndpointList = pageModel(
  'WebhookEndpointList',
  'All webhook endpoints in development.',
  webhookEndpoint,
  'Oldest first.',
)

export const pingResult = model('WebhookPing', 'What became of a ping.', {
  eventId: recordId('evt', 'The event that was sent.'),
  delivered: flag('Whether the endpoint answered with a status of 200 to 299.', true),
  status,
  error,
  durationMs,
  answer,
})

export const attemptQuery = Type.Object(pageQuery)
const webhookAttempt = model('WebhookAttempt', 'One call of an endpoint.', {
  id: recordId('att', 'The attempt.'),
  eventId: recordId('evt', 'The event that was sent.'),
  kind,
  at: time('When it began.'),
  durationMs,
  status,
  error,
  answer,
})
export const attemptList = pageModel(
  'WebhookAttemptList',
  'A page of attempts of the last 30 days.',
  webhookAttempt,
  'Newest first.',
)

export const resendRequest = model('WebhookResend', 'Which events to send again: exactly one of the three.', {
  event: Type.Optional(recordId('evt', 'This event.')),
  since: Type.Optional(time('All events since this time, at most 30 days ago.')),
  failed: Type.Optional(
    Type.Literal(true, { description: 'All that failed for good, except pings.', examples: [true] }),
  ),
})
export const resendResult = model('WebhookResent', 'How many events are sent again.', {
  id: recordId('whk', 'The endpoint.'),
  resent: count('How many events.', 3),
})
