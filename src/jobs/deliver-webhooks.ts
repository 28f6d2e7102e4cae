import type { AttemptOutcome } from '../domain/webhook-delivery.ts'
import { localTrace, type Platform } from '../operations/platform.ts'
import { deliverNext, listDueEndpoints } from '../operations/webhooks/deliveries.ts'

export type WebhookWorker = ReturnType<typeof startWebhookWorker>

type WorkerOptions = {
  /** Called after each search for due deliveries. */
  readonly done: () => void
  /** Called after each call of an endpoint. */
  readonly tried: (outcome: AttemptOutcome) => void
  readonly failed: (cause: unknown) => void
  /** How often it searches for due deliveries. */
  readonly periodMs?: number
  /** How many endpoints are called at the same time. */
  readonly parallel?: number
}

type Cluster = NonNullable<Platform['database']['cluster']>
const leasePrefix = 'webhooks '
const leaseOf = (endpointId: string): string => leasePrefix + endpointId

/** The endpoints among these that no other server serves: the first ones, as many as are free. */
const leased = async (cluster: Cluster, endpointIds: readonly string[], free: number): Promise<readonly string[]> => {
  if (endpointIds.length === 0 || free === 0) return []
  const names = await cluster.takeLeases(endpointIds.map(leaseOf), free)
  return names.map((name) => name.slice(leasePrefix.length))
}

/** How long a stop waits for receivers. */
const graceMs = 5_000
/** A period in which an endpoint is not called. */
type Rest = { leftMs(): number }
/** How long an endpoint rests when the result of a call could not be stored, so that it does not get the event every second. */
const unrecordedRestMs = 60_000
/** The same when it was not called, because the store did not answer. */
const uncalledRestMs = 5_000

/**
 * Searches for due deliveries and sends them: one at a time and in order to each endpoint, and to many endpoints at
 * once, so that a slow endpoint delays no other. When more endpoints wait than can be called, each gets one turn, and the
 * one that has waited longest is next. An endpoint that asks for a pause (Retry-After) is not called until it ends; a
 * restart forgets such pauses. What is due is read from the store alone, so a crash loses no delivery.
 *
 * Servers that share a database deliver together. Each takes a lease of an endpoint before it sends, and gives it back afterwards,
 * with the pause that the endpoint has asked for. The leases of a server that dies end within a minute; then others go on, and
 * what it had sent without a record is sent again.
 */
export const startWebhookWorker = (
  platform: Platform,
  { done, tried, failed, periodMs = 1_000, parallel = 256 }: WorkerOptions,
) => {
  const { cluster } = platform.database
  const busy = new Map<string, Promise<void>>()
  const rests = new Map<string, Rest>()
  /** The number of the latest turn of each endpoint. */
  const turns = new Map<string, number>()
  let turn = 0
  let isCrowded = false
  const ending = new AbortController()
  const stopping = new AbortController()

  const isStillMine = async (endpointId: string) => cluster === null || (await cluster.keepLease(leaseOf(endpointId)))

  const restAfter = (endpointId: string, restMs: number, cause: unknown): void => {
    if (ending.signal.aborted) return
    const until = performance.now() + restMs
    rests.set(endpointId, { leftMs: () => until - performance.now() })
    failed(cause)
  }

  const serve = async (endpointId: string): Promise<void> => {
    try {
      while (!stopping.signal.aborted && (await isStillMine(endpointId))) {
        const delivered = await deliverNext(platform, localTrace(platform), endpointId, ending.signal)
        if (delivered.kind === 'nothing due') return
        if (delivered.kind === 'not recorded') return restAfter(endpointId, unrecordedRestMs, delivered.cause)
        const { outcome, restUntil } = delivered
        tried(outcome)
        if (restUntil !== null) rests.set(endpointId, { leftMs: () => restUntil - platform.clock.now() })
        if (restUntil !== null || isCrowded) return
      }
    } catch (cause) {
      restAfter(endpointId, uncalledRestMs, cause)
    }
  }

  const serveLeased = async (endpointId: string): Promise<void> => {
    await serve(endpointId)
    await cluster?.endLease(leaseOf(endpointId), rests.get(endpointId)?.leftMs() ?? 0)
  }

  const look = async (): Promise<void> => {
    if (!platform.database.health().writable) return
    const due = await listDueEndpoints(platform)
    if (stopping.signal.aborted) return
    for (const [id, rest] of rests) if (rest.leftMs() <= 0) rests.delete(id)
    const waiting = due.filter((id) => !busy.has(id) && !rests.has(id))
    const free = parallel - busy.size
    isCrowded = waiting.length > free
    const present = new Set(due)
    for (const id of turns.keys()) if (!present.has(id)) turns.delete(id)
    const inTurn = waiting.toSorted((one, other) => (turns.get(one) ?? 0) - (turns.get(other) ?? 0))
    const mine = cluster === null ? inTurn.slice(0, free) : await leased(cluster, inTurn, free)
    if (mine.length < free) isCrowded = false // others have the rest
    for (const id of mine) {
      turn += 1
      turns.set(id, turn)
      busy.set(
        id,
        serveLeased(id).finally(() => busy.delete(id)),
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
