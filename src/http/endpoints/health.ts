import { Type } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { readConditions, readFigures } from '../../operations/health/health.ts'
import { model } from '../contract/fields.ts'
import { endpoint, queryOf } from '../endpoint.ts'

const health = <const T extends string>(name: string, word: T, description: string) =>
  model(name, description, { status: Type.Literal(word, { description, examples: [word] }) })

/** For monitors and proxies (contract section 6): no version header, no credentials. */
export const isAlive = endpoint({
  method: 'GET',
  path: '/healthz',
  isHot: true,
  answers: { 200: health('Alive', 'alive', 'The process answers.') },
  details: {
    id: 'isAlive',
    summary: 'Is the process alive?',
    description: 'Says nothing about the store: restart the process only when this fails.',
    tag: 'Operations',
  },
  run: () => ({ status: 'alive' }),
})

const readinessQuery = Type.Object({
  for: Type.Optional(
    Type.Literal('proxy', {
      examples: ['proxy'],
      description: 'Whether a proxy may send requests here. Everything else the server answers itself.',
    }),
  ),
})

export const isReady = endpoint({
  method: 'GET',
  path: '/readyz',
  isHot: true,
  query: queryOf(readinessQuery),
  answers: { 200: health('Ready', 'ready', 'Migrated, and the store takes writes.') },
  details: {
    id: 'isReady',
    summary: 'Does the store take writes?',
    description:
      'Fails while the server starts and drains, when the store takes no writes, and when the clock is wrong. `details.conditions` names what an operator has to correct. With `for=proxy` it fails only while the server drains, and the server goes on until a proxy that asks every second has been told: so a restart loses no request.',
    tag: 'Operations',
  },
  run: async (door, _, { query }) => {
    const isForProxy = query.for === 'proxy'
    const isDraining = isForProxy ? door.isDrainingForProxy() : door.draining()
    if (isDraining) throw refuse('unavailable', { retryAfterSeconds: 5 })
    if (isForProxy) return { status: 'ready' }
    const ending = (await readConditions(door.platform)).filter(({ endsReadiness }) => endsReadiness)
    if (ending.length === 0) return { status: 'ready' }
    const details = { conditions: ending.map(({ name }) => name) }
    throw refuse('unavailable', { retryAfterSeconds: 5, details })
  },
})

/**
 * Served here unless the metrics have a port of their own. What a proxy passes on comes from elsewhere, and a proxy may read another path in
 * an address than this server, so that its own rules are not enough.
 */
export const readMetrics = endpoint({
  method: 'GET',
  path: '/metrics',
  isHot: true,
  answers: { 200: Type.String({ description: 'Prometheus text format.' }) },
  details: {
    id: 'readMetrics',
    summary: 'Figures for Prometheus',
    description:
      'Counts and latencies by route and status, tokens, transactions, purge lag, sizes. Keep it off the open internet.',
    tag: 'Operations',
  },
  errors: ['route_not_found'],
  run: async ({ metrics, platform }, { request: { headers } }) => {
    if (['x-forwarded-for', 'forwarded'].some((name) => headers.has(name))) throw refuse('route_not_found')
    return new Response(await metrics.render(await readFigures(platform)), {
      headers: { 'content-type': metrics.contentType },
    })
  },
})
