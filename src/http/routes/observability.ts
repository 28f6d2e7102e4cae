import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import { readConditions } from '../../operations/health/conditions.ts'
import { readFigures } from '../../operations/health/figures.ts'
import { plainErrorResponses } from '../contract/errors.ts'
import type { Door } from '../door.ts'
import { plainDetails } from './operation-details.ts'

const health = (word: string, description: string) =>
  Type.Object({ status: Type.Literal(word, { description, examples: [word] }) }, { description })

const readinessQuery = Type.Object({
  for: Type.Optional(
    Type.Literal('proxy', {
      examples: ['proxy'],
      description: 'Whether a proxy may send requests here. Everything else the server answers itself.',
    }),
  ),
})

/** For whoever watches the server (contract section 6). No version header, no credentials. */
export const observabilityRoutes = (door: Door) =>
  new Elysia()
    .get('/healthz', async () => ({ status: 'alive' as const }), {
      response: { 200: health('alive', 'The process answers.'), ...plainErrorResponses() },
      detail: plainDetails({
        id: 'isAlive',
        summary: 'Is the process alive?',
        description: 'Says nothing about the store: restart the process only when this fails.',
        tag: 'Operations',
        callers: ['none'],
      }),
    })
    .get(
      '/readyz',
      async ({ query }) => {
        const isForProxy = query.for === 'proxy'
        if (isForProxy ? door.isDrainingForProxy() : door.draining()) {
          throw refuse('unavailable', { retryAfterSeconds: 5 })
        }
        if (isForProxy) return { status: 'ready' as const }
        const ending = (await readConditions(door.platform)).filter(({ endsReadiness }) => endsReadiness)
        if (ending.length > 0) {
          const details = { conditions: ending.map(({ name }) => name) }
          throw refuse('unavailable', { retryAfterSeconds: 5, details })
        }
        return { status: 'ready' as const }
      },
      {
        query: readinessQuery,
        response: { 200: health('ready', 'Migrated, and the store takes writes.'), ...plainErrorResponses() },
        detail: plainDetails({
          id: 'isReady',
          summary: 'Does the store take writes?',
          description:
            'Fails while the server starts and drains, when the store takes no writes, and when the clock is wrong. `details.conditions` names what an operator has to mend. With `for=proxy` it fails only while the server drains, and the server goes on until a proxy that asks every second has been told: so a restart loses no request.',
          tag: 'Operations',
          callers: ['none'],
        }),
      },
    )

/** Figures for a monitor, where they have no port of their own. */
export const metricsRoute = (door: Door) =>
  new Elysia().get(
    '/metrics',
    async ({ set }) => {
      set.headers['content-type'] = door.metrics.contentType
      return await door.metrics.render(await readFigures(door.platform))
    },
    {
      response: { 200: Type.String({ description: 'Prometheus text format.' }), ...plainErrorResponses() },
      detail: plainDetails({
        id: 'readMetrics',
        summary: 'Figures for Prometheus',
        description:
          'Counts and latencies by route and status, tokens, transactions, purge lag, sizes. Keep it off the open internet.',
        tag: 'Operations',
        callers: ['none'],
      }),
    },
  )
