import type { Static } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { parseTimestamp, wireRecord } from '../../domain/timestamp.ts'
import { actingAsApp } from '../../operations/acting-as.ts'
import { ownerOf } from '../../operations/apps/app-record.ts'
import { actorOf } from '../../operations/authenticate.ts'
import {
  listAttempts,
  pingEndpoint,
  type ResendChoice,
  resendEvents,
  withoutParameters,
} from '../../operations/webhooks/deliveries.ts'
import {
  type EndpointRecord,
  hasEndpoint,
  isBuilderEndpoint,
  listBuilderEndpoints,
  listEndpoints,
  requireRule,
} from '../../operations/webhooks/endpoints.ts'
import { bearer, type BearerCaller, developmentAppOf } from '../bearer.ts'
import type { Call } from '../call.ts'
import * as contract from '../contract/webhooks.ts'
import type { Door } from '../door.ts'
import { endpoint, ignoredBody, jsonBody, queryOf } from '../endpoint.ts'
import { takeShare } from '../limits.ts'
import { wirePage, wireTime, wireTimeOrNull } from '../wire.ts'
import { contractPath, pathParametersOf } from '../paths.ts'
import { managed } from '../management.ts'
import type { PageRequest } from '../../operations/page.ts'

const path = `${contractPath}/webhooks`
const errors = ['development_credentials_required', 'record_not_found'] as const

/** The app with its endpoint of the path. Endpoints of production, and of other apps, do not exist for it. */
const endpointOfCall = (call: Call, caller: BearerCaller) => {
  const app = developmentAppOf(caller)
  const { id = '' } = pathParametersOf(call)
  return { app, id, rule: hasEndpoint(app.app.id, 'development', id) }
}

/** The first arguments of an operation on the endpoint. Each of its transactions checks the token and the endpoint again. */
const asDeveloper = (door: Door, call: Call, { app, rule }: ReturnType<typeof endpointOfCall>) =>
  [actingAsApp(door.platform, call, app, rule), call, actorOf(app)] as const

const wireEndpoint = (record: EndpointRecord) => {
  const { app: _, url, kinds, failingSince, createdAt, updatedAt, ...endpoint } = record
  return {
    ...endpoint,
    url: withoutParameters(url),
    kinds: [...kinds],
    failingSince: wireTimeOrNull(failingSince),
    createdAt: wireTime(createdAt),
    updatedAt: wireTime(updatedAt),
  }
}

export const listWebhookEndpoints = endpoint({
  method: 'GET',
  path,
  caller: bearer('appToken'),
  share: 'read',
  answers: { 200: contract.webhookEndpointList },
  errors: ['development_credentials_required'],
  details: {
    id: 'listWebhookEndpoints',
    summary: "List the app's webhook endpoints in development",
    description: 'All of them, ten at most, in one page. They are registered in the console.',
    tag: 'Webhooks',
  },
  run: async (door, _, { caller }) => {
    const { app } = developmentAppOf(caller)
    const endpoints = await listEndpoints(door.platform, app.id)
    const here = endpoints.filter(({ environment }) => environment === 'development')
    return { data: here.map(wireEndpoint), nextCursor: null }
  },
})

export const pingWebhookEndpoint = endpoint({
  method: 'POST',
  path: `${path}/:id/ping`,
  caller: bearer('appToken'),
  share: 'write',
  body: ignoredBody,
  answers: { 200: contract.pingResult },
  errors,
  details: {
    id: 'pingWebhookEndpoint',
    summary: 'Send a ping to a webhook endpoint',
    description:
      'Sent once, now, also to a disabled endpoint, and never repeated. The call takes as long as the endpoint does.',
    tag: 'Webhooks',
    parameters: [contract.endpointParameter],
  },
  run: async (door, call, { caller }) => {
    const at = endpointOfCall(call, caller)
    // Calls to hosts that others choose have one limit for all apps of an owner. It is not the owner's own, which a secret on a laptop
    // could otherwise use up.
    takeShare(door, call, 'authorize', `pings ${(await ownerOf(door.platform, at.app.app.id)) ?? ''}`)
    return await pingEndpoint(...asDeveloper(door, call, at), at.id)
  },
})

export const listWebhookAttempts = endpoint({
  method: 'GET',
  path: `${path}/:id/attempts`,
  caller: bearer('appToken'),
  share: 'read',
  query: queryOf(contract.attemptQuery),
  answers: { 200: contract.attemptList },
  errors,
  details: {
    id: 'listWebhookAttempts',
    summary: 'List the calls of a webhook endpoint',
    description: 'Those of the last 30 days, newest first.',
    tag: 'Webhooks',
    parameters: [contract.endpointParameter],
  },
  run: async (door, call, { caller, query }) => {
    const read = async (asked: PageRequest) => {
      const { id, rule } = endpointOfCall(call, caller)
      await requireRule(door.platform, rule)
      return await listAttempts(door.platform, id, asked)
    }
    return await wirePage('attempts', query, read, wireRecord)
  },
})

export const resendWebhookEvents = endpoint({
  method: 'POST',
  path: `${path}/:id/resend`,
  caller: bearer('appToken'),
  share: 'write',
  body: jsonBody(contract.resendRequest),
  answers: { 200: contract.resendResult },
  errors,
  details: {
    id: 'resendWebhookEvents',
    summary: 'Send events to a webhook endpoint again',
    description: 'With the same event IDs, and all attempts ahead. A disabled endpoint gets them when it is enabled.',
    tag: 'Webhooks',
    parameters: [contract.endpointParameter],
  },
  run: async (door, call, { caller, body }) => {
    const choice = resendChoiceOf(body)
    const at = endpointOfCall(call, caller)
    return await resendEvents(...asDeveloper(door, call, at), { id: at.id, choice })
  },
})

/** @throws invalid_request unless the body says exactly one thing */
const resendChoiceOf = ({ event, since, failed }: Static<typeof contract.resendRequest>): ResendChoice => {
  const given = [event, since, failed].filter((value) => value !== undefined)
  if (given.length !== 1) throw refuse('invalid_request', { message: 'Send exactly one of event, since and failed.' })
  if (event !== undefined) return { kind: 'one', eventId: event }
  if (since === undefined) return { kind: 'failed' }
  const at = parseTimestamp(since)
  if (at === null) {
    throw refuse('invalid_request', { param: 'since', message: 'It must be a time such as 2026-08-01T12:00:00Z.' })
  }
  return { kind: 'since', at }
}

// The endpoints of the builder, in the management API.

const builderPath = '/webhooks/:id'

/** The ID, if it is that of an endpoint of the builder. @throws record_not_found */
const endpointIn = async ({ platform }: Door, { id = '' }: Readonly<Record<string, string>>): Promise<string> => {
  await requireRule(platform, isBuilderEndpoint(id))
  return id
}

export const readBuilderEndpoints = managed({
  method: 'GET',
  path: '/webhooks',
  right: 'webhooks:read',
  answers: { 200: contract.builderEndpointList },
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
  path: `${builderPath}/ping`,
  right: 'webhooks:write',
  body: ignoredBody,
  answers: { 200: contract.pingResult },
  errors: ['record_not_found'],
  id: 'pingBuilderWebhookEndpoint',
  summary: 'Send a ping to a webhook endpoint of the builder',
  description:
    'Sent once, now, also to a disabled endpoint, and never repeated. The call takes as long as the endpoint does.',
  parameters: [contract.endpointParameter],
  run: async (door, call, { actor, path: place }) =>
    await pingEndpoint(door.platform, call, actor, await endpointIn(door, place)),
})

export const readBuilderAttempts = managed({
  method: 'GET',
  path: `${builderPath}/attempts`,
  right: 'webhooks:read',
  query: queryOf(contract.attemptQuery),
  answers: { 200: contract.attemptList },
  errors: ['record_not_found'],
  id: 'listBuilderWebhookAttempts',
  summary: 'List the calls of a webhook endpoint of the builder',
  description: 'Those of the last 30 days, newest first.',
  parameters: [contract.endpointParameter],
  run: async (door, _, { path: place, query }) => {
    const id = await endpointIn(door, place)
    return await wirePage(
      'builder-attempts',
      query,
      async (page) => await listAttempts(door.platform, id, page),
      wireRecord,
    )
  },
})

export const resendBuilderEvents = managed({
  method: 'POST',
  path: `${builderPath}/resend`,
  right: 'webhooks:write',
  body: jsonBody(contract.resendRequest),
  answers: { 200: contract.resendResult },
  errors: ['record_not_found'],
  id: 'resendBuilderWebhookEvents',
  summary: 'Send events to a webhook endpoint of the builder again',
  description: 'With the same event IDs, and all attempts ahead. A disabled endpoint gets them when it is enabled.',
  parameters: [contract.endpointParameter],
  run: async (door, call, { actor, path: place, body }) => {
    const choice = resendChoiceOf(body)
    return await resendEvents(door.platform, call, actor, { id: await endpointIn(door, place), choice })
  },
})
