import { recordId } from '../domain/identifier.ts'
import type { Platform, Trace } from '../operations/platform.ts'
import { deliverNext } from '../operations/webhooks/deliver-next.ts'

export type WebhookWorker = {
  /** Starts nothing more and waits for what is under way, but not for long: what is cut off is sent again at the next start. */
  stop(): Promise<void>
}

type WorkerOptions = {
  readonly failed: (cause: unknown) => void
  /** How often it looks for what is due. */
  readonly periodMs?: number
}

/** Each call has an ID of its own, by which log and audit tell it. */
const traceOf = (platform: Platform): Trace => ({
  requestId: recordId('req_', platform.random.uuid(platform.clock.now())),
  address: 'local',
})

/** Endpoints that are called at the same time. */
const parallel = 256
/** How long the end of the program waits for receivers. */
const graceMs = 5_000
/** How long an endpoint rests when the store could not write what came of a call: it must not get the event every second. */
const restMs = 60_000

/**
 * Looks for due deliveries and sends them: one at a time to each endpoint, in order, and to many endpoints at once, so
 * that a slow one delays no other. What is sent is decided by the store alone: whatever was written before a crash is
 * sent after it.
 */
export const startWebhookWorker = (platform: Platform, { failed, periodMs = 1_000 }: WorkerOptions): WebhookWorker => {
  const busy = new Map<string, Promise<void>>()
  const restingUntil = new Map<string, number>()
  const ending = new AbortController()
  const stopping = new AbortController()

  const serve = async (endpointId: string): Promise<void> => {
    try {
      while (!stopping.signal.aborted) {
        if (!(await deliverNext(platform, traceOf(platform), endpointId, ending.signal))) return
      }
    } catch (cause) {
      if (ending.signal.aborted) return
      restingUntil.set(endpointId, performance.now() + restMs)
      failed(cause)
    }
  }

  const isResting = (id: string): boolean => {
    if ((restingUntil.get(id) ?? 0) > performance.now()) return true
    restingUntil.delete(id)
    return false
  }

  const look = async (): Promise<void> => {
    if (!platform.database.health().writable) return
    for (const id of await platform.database.queries.webhookEndpoints.due(platform.clock.now())) {
      if (stopping.signal.aborted || busy.size >= parallel) return
      if (!busy.has(id) && !isResting(id))
        busy.set(
          id,
          serve(id).finally(() => busy.delete(id)),
        )
    }
  }

  let looking: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look).catch(failed)
  }, periodMs)

  return {
    stop: async () => {
      stopping.abort()
      clearInterval(timer)
      await looking
      const cut = setTimeout(() => ending.abort(), graceMs)
      await Promise.all(busy.values())
      clearTimeout(cut)
    },
  }
}
