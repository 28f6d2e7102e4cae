import { listAttempts, pingEndpoint, resendEvents } from '../../operations/webhooks/deliveries.ts'
import { isBuilderEndpoint, listBuilderEndpoints, requireRule } from '../../operations/webhooks/endpoints.ts'
import {
  attemptList,
  attemptQuery,
  builderEndpointList,
  endpointParameter,
  pingResult,
  resendRequest,
  resendResult,
} from '../contract/webhooks.ts'
import type { Door } from '../door.ts'
import { ignoredBody, jsonBody, queryOf } from '../endpoint.ts'
import { managed } from '../management.ts'
import { pageRequest, wireCursor } from '../wire.ts'
import { resendChoiceOf, wireAttempt, wireEndpoint } from './webhooks.ts'

const path = '/webhooks/:id'
const parameters = [endpointParameter]
const errors = ['record_not_found'] as const

/** The ID, if it is that of an endpoint of the builder. @throws record_not_found */
const endpointIn = async ({ platform }: Door, { id = '' }: Readonly<Record<string, string>>): Promise<string> => {
  await requireRule(platform, isBuilderEndpoint(id))
  return id
}

export const readBuilderEndpoints = managed({
  method: 'GET',
  path: '/webhooks',
  right: 'webhooks:read',
  answers: { 200: builderEndpointList },
  id: 'listBuilderWebhookEndpoints',
  summary: "List the builder's webhook endpoints",
  description: 'All of them, ten at most, in one page. They are registered on the desk.',
  run: async (door) => {
    const endpoints = await listBuilderEndpoints(door.platform)
    return { data: endpoints.map(wireEndpoint), nextCursor: null }
  },
})

export const pingBuilderEndpoint = managed({
  method: 'POST',
  path: `${path}/ping`,
  right: 'webhooks:write',
  body: ignoredBody,
  answers: { 200: pingResult },
  errors,
  id: 'pingBuilderWebhookEndpoint',
  summary: 'Send a ping to a webhook endpoint of the builder',
  description:
    'Sent once, now, also to a disabled endpoint, and never repeated. The call takes as long as the endpoint does.',
  parameters,
  run: async (door, call, { actor, path: place }) =>
    await pingEndpoint(door.platform, call, actor, await endpointIn(door, place)),
})

export const readBuilderAttempts = managed({
  method: 'GET',
  path: `${path}/attempts`,
  right: 'webhooks:read',
  query: queryOf(attemptQuery),
  answers: { 200: attemptList },
  errors,
  id: 'listBuilderWebhookAttempts',
  summary: 'List the calls of a webhook endpoint of the builder',
  description: 'Those of the last 30 days, newest first.',
  parameters,
  run: async (door, _, { path: place, query }) => {
    const id = await endpointIn(door, place)
    const { data, nextCursor } = await listAttempts(door.platform, id, pageRequest('builder-attempts', query))
    return { data: data.map(wireAttempt), nextCursor: wireCursor('builder-attempts', nextCursor) }
  },
})

export const resendBuilderEvents = managed({
  method: 'POST',
  path: `${path}/resend`,
  right: 'webhooks:write',
  body: jsonBody(resendRequest),
  answers: { 200: resendResult },
  errors,
  id: 'resendBuilderWebhookEvents',
  summary: 'Send events to a webhook endpoint of the builder again',
  description: 'With the same event IDs, and all attempts ahead. A disabled endpoint gets them when it is enabled.',
  parameters,
  run: async (door, call, { actor, path: place, body }) => {
    const choice = resendChoiceOf(body)
    return await resendEvents(door.platform, call, actor, { id: await endpointIn(door, place), choice })
  },
})
