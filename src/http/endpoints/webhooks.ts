import type { Static } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import { actingAsApp } from '../../operations/acting-as.ts'
import { ownerOf } from '../../operations/apps/app-record.ts'
import { actorOf } from '../../operations/authenticate.ts'
import {
  type AttemptRecord,
  listAttempts,
  pingEndpoint,
  withoutParameters,
  type ResendChoice,
  resendEvents,
} from '../../operations/webhooks/deliveries.ts'
import { type EndpointRecord, hasEndpoint, listEndpoints, requireRule } from '../../operations/webhooks/endpoints.ts'
import { bearer, type BearerCaller, developmentAppOf } from '../bearer.ts'
import type { Call } from '../call.ts'
import {
  attemptList,
  attemptQuery,
  endpointParameter,
  pingResult,
  resendRequest,
  resendResult,
  webhookEndpointList,
} from '../contract/webhooks.ts'
import type { Door } from '../door.ts'
import { endpoint, ignoredBody, jsonBody, queryOf } from '../endpoint.ts'
import { takeShare } from '../limits.ts'
import { pageRequest, wireCursor, wireTime, wireTimeOrNull } from '../wire.ts'
import { contractPath, pathParametersOf } from '../paths.ts'

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

export const wireEndpoint = (record: EndpointRecord) => {
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

export const wireAttempt = (attempt: AttemptRecord) => ({ ...attempt, at: wireTime(attempt.at) })

export const listWebhookEndpoints = endpoint({
  method: 'GET',
  path,
  caller: bearer('appToken'),
  share: 'read',
  answers: { 200: webhookEndpointList },
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
  answers: { 200: pingResult },
  errors,
  details: {
    id: 'pingWebhookEndpoint',
    summary: 'Send a ping to a webhook endpoint',
    description:
      'Sent once, now, also to a disabled endpoint, and never repeated. The call takes as long as the endpoint does.',
    tag: 'Webhooks',
    parameters: [endpointParameter],
  },
  run: async (door, call, { caller }) => {
    const at = endpointOfCall(call, caller)
    // Calls to hosts that others choose have one limit for each owner, whether the console or the app asks for them.
    takeShare(door, call, 'authorize', (await ownerOf(door.platform, at.app.app.id)) ?? '')
    return await pingEndpoint(...asDeveloper(door, call, at), at.id)
  },
})

export const listWebhookAttempts = endpoint({
  method: 'GET',
  path: `${path}/:id/attempts`,
  caller: bearer('appToken'),
  share: 'read',
  query: queryOf(attemptQuery),
  answers: { 200: attemptList },
  errors,
  details: {
    id: 'listWebhookAttempts',
    summary: 'List the calls of a webhook endpoint',
    description: 'Those of the last 30 days, newest first.',
    tag: 'Webhooks',
    parameters: [endpointParameter],
  },
  run: async (door, call, { caller, query }) => {
    const asked = pageRequest('attempts', query)
    const { id, rule } = endpointOfCall(call, caller)
    await requireRule(door.platform, rule)
    const { data, nextCursor } = await listAttempts(door.platform, id, asked)
    return { data: data.map(wireAttempt), nextCursor: wireCursor('attempts', nextCursor) }
  },
})

export const resendWebhookEvents = endpoint({
  method: 'POST',
  path: `${path}/:id/resend`,
  caller: bearer('appToken'),
  share: 'write',
  body: jsonBody(resendRequest),
  answers: { 200: resendResult },
  errors,
  details: {
    id: 'resendWebhookEvents',
    summary: 'Send events to a webhook endpoint again',
    description: 'With the same event IDs, and all attempts ahead. A disabled endpoint gets them when it is enabled.',
    tag: 'Webhooks',
    parameters: [endpointParameter],
  },
  run: async (door, call, { caller, body }) => {
    const choice = resendChoiceOf(body)
    const at = endpointOfCall(call, caller)
    return await resendEvents(...asDeveloper(door, call, at), { id: at.id, choice })
  },
})

/** @throws invalid_request unless the body says exactly one thing */
export const resendChoiceOf = ({ event, since, failed }: Static<typeof resendRequest>): ResendChoice => {
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
