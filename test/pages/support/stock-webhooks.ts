import type { Platform } from '../../../src/operations/platform.ts'
import { addEndpoint, setEndpointStatus, rotateWebhookSecret } from '../../../src/operations/webhooks/endpoints.ts'
import { listAttempts, pingEndpoint } from '../../../src/operations/webhooks/deliveries.ts'
import type { WebhookAnswer } from '../../../src/runtime/webhook-sender.ts'
import { operator, trace } from '../../support/operator.ts'
import type { AppInWorld } from '../../support/world.ts'

/** The pages of all attempts of an endpoint, below its app. */
export const attemptPathsOf = async (platform: Platform, id: string): Promise<readonly string[]> => {
  const { data } = await listAttempts(platform, id, { limit: 10, cursor: null })
  return data.map((attempt) => `/webhooks/${id}/attempts/${attempt.id}`)
}

/** Answers of receivers, one after the other. */
const answers: readonly Omit<WebhookAnswer, 'retryAfter' | 'headers'>[] = [
  { status: 204, error: null, answer: '', durationMs: 12 },
  { status: null, error: 'timed_out', answer: '', durationMs: 15_000 },
  { status: 500, error: null, answer: `<b>${'long'.repeat(200)}\u202e`, durationMs: 7 },
  { status: 410, error: null, answer: 'gone', durationMs: 30 },
]

/**
 * Two endpoints of the app with recorded attempts, without real calls: the server would refuse this address, and
 * they receive only pings.
 */
export const stockWebhooks = async (platform: Platform, { slug }: AppInWorld): Promise<readonly string[]> => {
  const left = [...answers]
  const send = async (): Promise<WebhookAnswer> => {
    const answer = left.shift()
    if (answer === undefined) throw new Error('more calls than answers')
    return { ...answer, retryAfter: null, headers: { server: 'nginx', 'x-long': 'long'.repeat(32) } }
  }
  const stocked: Platform = { ...platform, webhooks: { check: async () => null, send } }
  const add = async (url: string) =>
    (await addEndpoint(stocked, trace, operator, { slug, environment: 'development', url, kinds: ['ping'] })).id
  const working = await add('https://127.0.0.1/hooks')
  for (let pings = 0; pings < 3; pings += 1) await pingEndpoint(stocked, trace, operator, working)
  await rotateWebhookSecret(stocked, trace, operator, { id: working, graceHours: 24 })
  const disabled = await add(`https://127.0.0.1/${'long/'.repeat(60)}`)
  await pingEndpoint(stocked, trace, operator, disabled)
  await setEndpointStatus(stocked, trace, operator, { id: disabled, status: 'disabled' })
  return [working, disabled]
}
