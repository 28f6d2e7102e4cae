import type { Awaitable } from '../../src/domain/awaitable.ts'
import { refuse } from '../../src/domain/errors.ts'

/** One transaction. Its body may run several times; the outcome of the last run counts. */
export type QueuedJob<Q> = {
  work(queries: Q): Awaitable<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  readonly endsAccess: boolean
  readonly isLong: boolean
  readonly askedAt: number
  value: unknown
  failure: { readonly error: unknown } | null
}

export type JobOptions = {
  readonly endsAccess?: boolean | undefined
  /** Whether it is a batch of its own, which may take many turns of the event loop. */
  readonly isLong?: boolean | undefined
}

const longestQueue = 10_000

const unavailable = (retryAfterSeconds: number) => refuse('unavailable', { retryAfterSeconds })

/** The transactions that wait for their batch, in order of arrival. */
export class WaitingJobs<Q> {
  #jobs: QueuedJob<Q>[] = []

  get length(): number {
    return this.#jobs.length
  }

  /** Refuses the job if too many wait already. */
  add(job: QueuedJob<Q>): void {
    if (this.#jobs.length >= longestQueue) job.reject(unavailable(1))
    else this.#jobs.push(job)
  }

  addFirst(jobs: readonly QueuedJob<Q>[]): void {
    this.#jobs.unshift(...jobs)
  }

  /** Takes those of the next batch: all that wait, up to the limit or the first long one, or a long one alone. */
  take(limit: number): readonly QueuedJob<Q>[] {
    const end = this.#jobs.findIndex((job, index) => job.isLong || index === limit)
    return this.#jobs.splice(0, end === -1 ? limit : Math.max(1, end))
  }

  /** Refuses those that have waited for too long. */
  refuseExpired(longestWaitMs: number): void {
    const askedBefore = performance.now() - longestWaitMs
    const expired = this.#jobs.filter((job) => job.askedAt < askedBefore)
    if (expired.length === 0) return
    this.#jobs = this.#jobs.filter((job) => job.askedAt >= askedBefore)
    for (const job of expired) job.reject(unavailable(1))
  }

  refuseAll(refusal: () => Error): void {
    for (const job of this.#jobs.splice(0)) job.reject(refusal())
  }
}
