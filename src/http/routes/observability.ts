import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import { clockFault, clockOffsetMs } from '../../operations/clock/clock-fault.ts'
import { backupAgeSeconds } from '../../operations/health/backup-age.ts'
import { purgeLagSeconds } from '../../operations/purge/purge-lag.ts'
import { plainErrorResponses } from '../contract/errors.ts'
import type { Door } from '../door.ts'
import { plainDetails } from './operation-details.ts'

const health = (word: string, description: string) =>
  Type.Object({ status: Type.Literal(word, { description, examples: [word] }) }, { description })

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
      async () => {
        const { writable } = door.platform.database.health()
        if (!writable || door.draining()) throw refuse('unavailable', { retryAfterSeconds: 5 })
        const fault = clockFault(door.platform.clock)
        if (fault !== null) throw refuse('unavailable', { retryAfterSeconds: 5, message: fault })
        return { status: 'ready' as const }
      },
      {
        response: { 200: health('ready', 'Migrated, and the store takes writes.'), ...plainErrorResponses() },
        detail: plainDetails({
          id: 'isReady',
          summary: 'Does the store take writes?',
          description:
            'Fails while the server starts, while it drains, when the store has stopped taking writes, and when the time that it trusts is over 30 seconds ahead of the clock of the machine.',
          tag: 'Operations',
          callers: ['none'],
        }),
      },
    )
    .get(
      '/metrics',
      async ({ set }) => {
        door.metrics.purgeLag(await purgeLagSeconds(door.platform))
        door.metrics.clockOffset(clockOffsetMs(door.platform.clock) / 1000)
        door.metrics.backupAge(await backupAgeSeconds(door.platform))
        set.headers['content-type'] = door.metrics.contentType
        return await door.metrics.render()
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
