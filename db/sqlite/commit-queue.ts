import type { Awaitable } from '../../src/domain/awaitable.ts'
import { refuse } from '../../src/domain/errors.ts'
import type { WritingConnection } from './connection.ts'
import { faultKind } from './fault.ts'
import { gather } from './gather.ts'
import { type JobOptions, type QueuedJob, WaitingJobs } from './waiting-jobs.ts'

/** What the queue needs of a writing connection. */
export type CommitWriter<Q> = Pick<
  WritingConnection<Q>,
  'queries' | 'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'rollbackToSavepoint'
>

export type CommitQueueOptions<Q> = {
  readonly writer: CommitWriter<Q>
  /** A fresh connection in place of one whose queries an overdue transaction may still hold. */
  readonly replaceWriter: () => CommitWriter<Q>
  /** How long a transaction waits for another process, or a long transaction of this one, to let it write. */
  readonly longestWaitMs: number
  /** Transactions per commit, at most. */
  readonly batchLimit: number
  /** Called before each batch. */
  readonly beginning: () => void
  /** Resolves when all that was committed before the call is durable; a rejection leaves the state unknown. */
  readonly durable: () => Promise<void>
  /** The disk was full and the batch was rolled back. True if there is room now for its transactions that end access. */
  readonly full: (endsAccess: boolean) => boolean
  /** The state of the file is unknown. Nothing of the batch was or will be answered as done. */
  readonly stateUnknown: (error: unknown) => void
}

const longestLockMs = 2_000
/** How often those that wait for a long transaction are looked at. */
const lookMs = 100
const unavailable = (retryAfterSeconds: number) => refuse('unavailable', { retryAfterSeconds })

/** A transaction awaited something other than its queries. It was rolled back; its code has to be fixed. */
export class TransactionOverdue extends Error {
  constructor() {
    super('A transaction did not finish within one turn of the event loop: it awaits something other than its queries.')
    this.name = 'TransactionOverdue'
  }
}

/**
 * Group commit. Transactions that arrive together run one after the other between one BEGIN and one COMMIT, and are
 * answered after one sync. While a sync is under way, the next batch gathers. Batches never overlap, so whatever a
 * transaction reads was durable before its batch began or becomes durable with its own batch: a transaction that changed
 * nothing waits all the same.
 *
 * Bodies run without savepoints, which would cost each of them 0.5 µs. When one throws, the whole batch is rolled back and
 * runs again, with a savepoint for each body. The following batches keep their savepoints until one has no failure, so
 * callers that always fail cost a savepoint, not a second run.
 *
 * A long transaction is a batch of its own. It may pause until a later turn of the event loop, so that reads are answered
 * meanwhile.
 */
export class CommitQueue<Q> {
  transactions = 0
  commits = 0
  /** How often another process held the lock when a batch was to begin. */
  lockWaits = 0
  /** Since when another process holds the write lock, as far as is known; null when none does. */
  #lockedSince: number | null = null

  #writer: CommitWriter<Q>
  readonly #waiting = new WaitingJobs<Q>()
  #running = false
  #refusal: (() => Error) | null = null
  #idle: (() => void) | null = null
  #busyTries = 0
  /** How many transactions were under way when the last batch was answered. */
  #underWay = 1
  /** Whether each body of a batch has its own savepoint. */
  #usesSavepoints = false

  constructor(private readonly options: CommitQueueOptions<Q>) {
    this.#writer = options.writer
  }

  transaction<T>(
    work: (queries: Q) => Awaitable<T>,
    { endsAccess = false, isLong = false }: JobOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal())
      const askedAt = performance.now()
      this.#waiting.add({ work, resolve, reject, endsAccess, isLong, askedAt, value: undefined, failure: null })
      if (this.#running) return
      this.#running = true
      this.#again()
    })
  }

  /** Refuses everything from now on, also the waiting transactions. If it is called again, the first refusal stays. */
  stop(refusal: () => Error): void {
    this.#refusal ??= refusal
    this.#waiting.refuseAll(this.#refusal)
  }

  /** Takes no more transactions and resolves when all that were taken are answered. */
  async drain(): Promise<void> {
    this.#refusal ??= () => unavailable(1)
    if (this.#running) await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  /** Checks whether another process holds the write lock, which an idle queue would not notice. */
  probe(): void {
    if (this.#running || this.#refusal !== null) return
    try {
      this.#writer.begin()
      this.#writer.rollback()
      this.#lockedSince = null
    } catch (error) {
      if (faultKind(error) === 'busy') {
        this.#lockedSince ??= performance.now()
        return
      }
      this.#running = true // until `#again` finds nothing to do
      this.#batchFailed([], error)
    }
  }

  /** Whether another process has held the write lock for so long that an operator should know. */
  get isLocked(): boolean {
    return this.#lockedSince !== null && performance.now() - this.#lockedSince >= longestLockMs
  }

  #next(): void {
    if (this.#waiting.length === 0) {
      this.#running = false
      this.#idle?.()
    } else if (this.#begin()) void this.#batch(this.#waiting.take(this.options.batchLimit))
  }

  /** False when a batch could not begin; the next try, if any, is scheduled. */
  #begin(): boolean {
    try {
      this.options.beginning()
      this.#writer.begin()
      this.#busyTries = 0
      this.#lockedSince = null
      return true
    } catch (error) {
      if (faultKind(error) === 'busy') this.#retryLater()
      else this.#batchFailed(this.#waiting.take(this.options.batchLimit), error)
      return false
    }
  }

  /** Another process is writing. Waiting inside SQLite would stop every request, so this waits outside. */
  #retryLater(): void {
    this.#lockedSince ??= performance.now()
    this.#waiting.refuseExpired(this.options.longestWaitMs)
    this.#busyTries += 1
    this.lockWaits += 1
    setTimeout(() => this.#next(), Math.random() * Math.min(20, 2 * this.#busyTries))
  }

  async #batch(jobs: readonly QueuedJob<Q>[]): Promise<void> {
    const hasSavepoints = this.#usesSavepoints && jobs.length > 1
    let ran = 0
    let isOverdue = false
    const isLong = jobs[0]?.isLong === true
    const nextTurn = setImmediate(() => {
      if (isLong) return
      isOverdue = true
      this.#runOthersAgain(jobs, ran - 1)
    })
    const looks = isLong
      ? setInterval(() => this.#waiting.refuseExpired(this.options.longestWaitMs), lookMs)
      : undefined
    try {
      for (const job of jobs) {
        ran += 1
        if (hasSavepoints) this.#writer.savepoint()
        try {
          const value = job.work(this.#writer.queries)
          job.value = value instanceof Promise ? await value : value
          job.failure = null
        } catch (error) {
          job.failure = { error }
        }
        if (isOverdue) return
        if (job.failure !== null && faultKind(job.failure.error) !== 'statement') throw job.failure.error
        if (job.failure !== null && !hasSavepoints) return this.#undo(jobs, job.failure.error)
        if (hasSavepoints && job.failure === null) this.#writer.release()
        else if (hasSavepoints) this.#writer.rollbackToSavepoint()
      }
      this.#writer.commit()
      this.commits += 1
    } catch (error) {
      this.#waiting.addFirst(jobs.slice(ran))
      return this.#batchFailed(jobs.slice(0, ran), error)
    } finally {
      clearImmediate(nextTurn)
      clearInterval(looks)
    }
    this.#usesSavepoints = jobs.some(({ failure }) => failure !== null)
    await this.#answer(jobs)
  }

  async #answer(jobs: readonly QueuedJob<Q>[]): Promise<void> {
    try {
      await this.options.durable()
    } catch (error) {
      return this.#lose(jobs, error)
    }
    this.transactions += jobs.length
    this.#underWay = jobs.length + this.#waiting.length
    for (const job of jobs) {
      if (job.failure === null) job.resolve(job.value)
      else job.reject(job.failure.error)
    }
    this.#again()
  }

  /**
   * A body threw. A lone transaction is refused at once: what it read was durable before it began. Several run again with
   * savepoints.
   */
  #undo(jobs: readonly QueuedJob<Q>[], error: unknown): void {
    if (!this.#rollBack(jobs)) return
    if (jobs.length > 1) {
      this.#usesSavepoints = true
      this.#waiting.addFirst(jobs)
      return this.#next()
    }
    this.transactions += 1
    for (const job of jobs) job.reject(error)
    this.#again()
  }

  /** The overdue body may still hold its queries, so their connection is replaced. The others of its batch run again. */
  #runOthersAgain(jobs: readonly QueuedJob<Q>[], overdue: number): void {
    jobs[overdue]?.reject(new TransactionOverdue())
    this.#waiting.addFirst(jobs.filter((_, index) => index !== overdue))
    try {
      this.#writer.rollback()
      this.#writer = this.options.replaceWriter()
    } catch (error) {
      return this.#lose([], error)
    }
    this.#again()
  }

  #batchFailed(jobs: readonly QueuedJob<Q>[], error: unknown): void {
    if (!this.#rollBack(jobs)) return
    const kind = faultKind(error)
    if (kind === 'state_unknown') return this.#lose(jobs, error)
    if (kind === 'full') this.#ranOut(jobs)
    else for (const job of jobs) job.reject(unavailable(1))
    this.#again()
  }

  /** False if the rollback failed; then nothing is accepted any more. */
  #rollBack(jobs: readonly QueuedJob<Q>[]): boolean {
    try {
      this.#writer.rollback()
      return true
    } catch (error) {
      this.#lose(jobs, error)
      return false
    }
  }

  /** Transactions that end access run once more if there is room for them. */
  #ranOut(jobs: readonly QueuedJob<Q>[]): void {
    const hasRoom = this.options.full(jobs.some(({ endsAccess }) => endsAccess))
    const isRefused = (job: QueuedJob<Q>) => !(hasRoom && job.endsAccess)
    for (const job of jobs.filter(isRefused)) job.reject(unavailable(5))
    this.#waiting.addFirst(jobs.filter((job) => !isRefused(job)))
  }

  #lose(jobs: readonly QueuedJob<Q>[], error: unknown): void {
    this.options.stateUnknown(error)
    this.stop(() => unavailable(30))
    for (const job of jobs) job.reject(unavailable(30))
    this.#again()
  }

  /** Gathers and starts the next batch. */
  #again(): void {
    const expected = Math.min(this.#underWay, this.options.batchLimit)
    gather(
      () => this.#waiting.length,
      expected,
      () => this.#next(),
    )
  }
}
