import { localTrace, type Platform } from '../operations/platform.ts'
import { deliverNext, listDueEndpoints } from '../operations/webhooks/deliveries.ts'

export type WebhookWorker = ReturnType<typeof startWebhookWorker>

type WorkerOptions = {
  /** Called after each search for due deliveries. */
  readonly done: () => void
  readonly failed: (cause: unknown) => void
  /** How often it searches for due deliveries. */
  readonly periodMs?: number
  /** How many endpoints are called at the same time. */
  readonly parallel?: number
}

/** How long a stop waits for receivers. */
const graceMs = 5_000
/** A period in which an endpoint is not called. */
type Rest = { hasEnded(): boolean }
/** How long an endpoint rests when the result of a call could not be stored, so that it does not get the event every second. */
const restMs = 60_000

/**
 * Searches for due deliveries and sends them: one at a time and in order to each endpoint, and to many endpoints at
 * once, so that a slow endpoint delays no other. When more endpoints wait than can be called, each gets one turn, and the
 * one that has waited longest is next. An endpoint that asks for a pause (Retry-After) is not called until it ends; a
 * restart forgets such pauses. What is due is read from the store alone, so a crash loses no delivery. Of several servers that
 * share a database one delivers; when another one takes over, an event may be sent twice.
 */
export const startWebhookWorker = (
  platform: Platform,
  { done, failed, periodMs = 1_000, parallel = 256 }: WorkerOptions,
) => {
  const busy = new Map<string, Promise<void>>()
  const rests = new Map<string, Rest>()
  /** The number of the latest turn of each endpoint. */
  const turns = new Map<string, number>()
  let turn = 0
  let isCrowded = false
  const ending = new AbortController()
  const stopping = new AbortController()

  const serve = async (endpointId: string): Promise<void> => {
    try {
      while (!stopping.signal.aborted && platform.database.leads()) {
        const delivered = await deliverNext(platform, localTrace(platform), endpointId, ending.signal)
        if (delivered.kind === 'nothing due') return
        const { restUntil } = delivered
        if (restUntil !== null) rests.set(endpointId, { hasEnded: () => platform.clock.now() >= restUntil })
        if (restUntil !== null || isCrowded) return
      }
    } catch (cause) {
      if (ending.signal.aborted) return
      const until = performance.now() + restMs
      rests.set(endpointId, { hasEnded: () => performance.now() >= until })
      failed(cause)
    }
  }

  const look = async (): Promise<void> => {
    if (!platform.database.health().writable || !platform.database.leads()) return
    const due = await listDueEndpoints(platform)
    if (stopping.signal.aborted) return
    for (const [id, rest] of rests) if (rest.hasEnded()) rests.delete(id)
    const waiting = due.filter((id) => !busy.has(id) && !rests.has(id))
    const free = parallel - busy.size
    isCrowded = waiting.length > free
    const present = new Set(due)
    for (const id of turns.keys()) if (!present.has(id)) turns.delete(id)
    const inTurn = waiting.toSorted((one, other) => (turns.get(one) ?? 0) - (turns.get(other) ?? 0))
    for (const id of inTurn.slice(0, free)) {
      turn += 1
      turns.set(id, turn)
      busy.set(
        id,
        serve(id).finally(() => busy.delete(id)),
      )
    }
    done()
  }

  let looking: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look).catch(failed)
  }, periodMs)

  return {
    /** Starts no more deliveries and waits up to 5 seconds for running ones. One that is cut off is sent again at the next start. */
    stop: async (): Promise<void> => {
      stopping.abort()
      clearInterval(timer)
      await looking
      const cut = setTimeout(() => ending.abort(), graceMs)
      await Promise.all(busy.values())
      clearTimeout(cut)
    },
  }
}
