import { recordId } from '../domain/identifier.ts'
import type { Platform, Trace } from '../operations/platform.ts'
import { deliverNext, listDueEndpoints } from '../operations/webhooks/deliveries.ts'

export type WebhookWorker = {
  /** Starts nothing more and waits for what is under way, but not for long: what is cut off is sent again at the next start. */
  stop(): Promise<void>
}

type WorkerOptions = {
  /** It has looked for what is due. */
  readonly done: () => void
  readonly failed: (cause: unknown) => void
  /** How often it looks for what is due. */
  readonly periodMs?: number
  /** Endpoints that are called at the same time. */
  readonly parallel?: number
}

/** Each call has an ID of its own, by which log and audit tell it. */
const traceOf = (platform: Platform): Trace => ({
  requestId: recordId('req_', platform.random.uuid(platform.clock.now())),
  address: 'local',
})

/** How long the end of the program waits for receivers. */
const graceMs = 5_000
/** A while in which an endpoint is left alone. */
type Rest = { isOver(): boolean }
/** How long an endpoint rests when the store could not write what came of a call: it must not get the event every second. */
const restMs = 60_000

/**
 * Looks for due deliveries and sends them: one at a time to each endpoint, in order, and to many endpoints at once, so
 * that a slow one delays no other. Where more wait than can be called, each has one turn, and whoever has waited longest
 * is next. An endpoint that asks for a pause (Retry-After) is sent nothing until it is over; only that is forgotten with
 * the program. What is sent is decided by the store alone: whatever was written before a crash is sent after it.
 */
export const startWebhookWorker = (
  platform: Platform,
  { done, failed, periodMs = 1_000, parallel = 256 }: WorkerOptions,
): WebhookWorker => {
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
      while (!stopping.signal.aborted) {
        const delivered = await deliverNext(platform, traceOf(platform), endpointId, ending.signal)
        if (delivered.kind === 'nothing due') return
        const { restUntil } = delivered
        if (restUntil !== null) rests.set(endpointId, { isOver: () => platform.clock.now() >= restUntil })
        if (restUntil !== null || isCrowded) return
      }
    } catch (cause) {
      if (ending.signal.aborted) return
      const until = performance.now() + restMs
      rests.set(endpointId, { isOver: () => performance.now() >= until })
      failed(cause)
    }
  }

  const look = async (): Promise<void> => {
    if (!platform.database.health().writable) return
    const due = await listDueEndpoints(platform)
    if (stopping.signal.aborted) return
    for (const [id, rest] of rests) if (rest.isOver()) rests.delete(id)
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
