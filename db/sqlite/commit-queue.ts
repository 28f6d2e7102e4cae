import type { Awaitable } from '../../src/domain/awaitable.ts'
import { refuse } from '../../src/domain/errors.ts'
import { faultKind } from './fault.ts'
import { gather } from './gather.ts'
import { type Outcome, Turn } from './turn.ts'

/** What the queue needs of a writing connection. */
export interface Writer<Q> {
  readonly queries: Q
  begin(): void
  commit(): void
  rollback(): void
  savepoint(): void
  release(): void
  rollbackToSavepoint(): void
}

export type CommitQueueOptions<Q> = {
  readonly writer: Writer<Q>
  /** A fresh connection in place of one whose queries an overdue transaction may still hold. */
  readonly replaceWriter: (old: Writer<Q>) => Writer<Q>
  /** How long a transaction waits for another process to let it write. */
  readonly longestWaitMs: number
  /** Transactions per commit, at most. */
  readonly batchLimit: number
  /** Called before each batch. */
  readonly beginning: () => void
  /** Resolves when all that was committed before the call is durable; a rejection leaves the state unknown. */
  readonly durable: () => Promise<void>
  /** Called after every answered batch; the next one waits for the promise, if any. */
  readonly settled: () => Promise<void> | null
  /** The disk was full; the batch was undone. True when there is room now for those of it that end access, if any. */
  readonly full: (endsAccess: boolean) => boolean
  /** The state of the file is unknown; nothing was or will be answered as done. */
  readonly stateUnknown: (error: unknown) => void
}

type Job<Q> = {
  /** Runs the body and gives the way to answer it once it is durable. */
  readonly run: (queries: Q) => Promise<() => void>
  readonly reject: (error: unknown) => void
  readonly endsAccess: boolean
  readonly askedAt: number
}

const longestQueue = 10_000
const longestLockMs = 2_000
const unavailable = (retryAfterSeconds: number) => refuse('unavailable', { retryAfterSeconds })

/** A transaction awaited something other than its queries. It was rolled back; whoever wrote it must mend it. */
export class TransactionOverdue extends Error {
  constructor() {
    super('A transaction did not finish within one turn of the event loop: it awaits something other than its queries.')
    this.name = 'TransactionOverdue'
  }
}

/**
 * Group commit. Transactions that arrive together run one after the other between one BEGIN and one COMMIT, each under
 * its own savepoint, and are answered after one sync. While a sync is on its way the next batch gathers. Batches never
 * overlap, so whatever a transaction reads was durable before its batch began or becomes so with its own batch: one
 * that changed nothing waits no less.
 */
export class CommitQueue<Q> {
  transactions = 0
  commits = 0
  /** How often another process held the lock when a batch was to begin. */
  lockWaits = 0
  /** Since when another process holds the write lock, as far as is known; null when none does. */
  #lockedSince: number | null = null

  #writer: Writer<Q>
  #waiting: Job<Q>[] = []
  #running = false
  #refusal: (() => Error) | null = null
  #idle: (() => void) | null = null
  #busyTries = 0
  /** How many were under way when the last batch was answered. */
  #underWay = 1

  constructor(private readonly options: CommitQueueOptions<Q>) {
    this.#writer = options.writer
  }

  transaction<T>(work: (queries: Q) => Awaitable<T>, { endsAccess } = { endsAccess: false }): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal())
      if (this.#waiting.length >= longestQueue) return reject(unavailable(1))
      const run = async (queries: Q) => {
        const value = await work(queries)
        return () => resolve(value)
      }
      this.#waiting.push({ run, reject, endsAccess, askedAt: performance.now() })
      this.#wake()
    })
  }

  /** Refuses everything from now on, waiting transactions included. The first reason stays. */
  stop(refusal: () => Error): void {
    this.#refusal ??= refusal
    for (const job of this.#waiting.splice(0)) job.reject(this.#refusal())
  }

  /** Takes no more transactions and resolves when all that were taken are answered. */
  async drain(): Promise<void> {
    this.#refusal ??= () => unavailable(1)
    if (this.#running) await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  /** Looks whether another process holds the write lock, which an idle queue would not notice. */
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
      this.#running = true // until what follows has come to rest
      this.#batchFailed([], error)
    }
  }

  /** Another process has held the write lock for so long that somebody should know. */
  get isLocked(): boolean {
    return this.#lockedSince !== null && performance.now() - this.#lockedSince >= longestLockMs
  }

  get writer(): Writer<Q> {
    return this.#writer
  }

  #wake(): void {
    if (this.#running) return
    this.#running = true
    this.#again()
  }

  #next(): void {
    if (this.#waiting.length === 0) return this.#rest()
    if (!this.#begin()) return
    void this.#batch(this.#waiting.splice(0, this.options.batchLimit))
  }

  #rest(): void {
    this.#running = false
    this.#idle?.()
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
      else this.#batchFailed(this.#waiting.splice(0, this.options.batchLimit), error)
      return false
    }
  }

  /** Another process is writing. Waiting inside SQLite would stop every request, so this waits outside. */
  #retryLater(): void {
    this.#lockedSince ??= performance.now()
    const askedBefore = performance.now() - this.options.longestWaitMs
    const expired = this.#waiting.filter((job) => job.askedAt < askedBefore)
    this.#waiting = this.#waiting.filter((job) => job.askedAt >= askedBefore)
    for (const job of expired) job.reject(unavailable(1))
    this.#busyTries += 1
    this.lockWaits += 1
    setTimeout(() => this.#next(), Math.random() * Math.min(20, 2 * this.#busyTries))
  }

  async #batch(jobs: readonly Job<Q>[]): Promise<void> {
    const answers: (() => void)[] = []
    const turn = new Turn()
    let ran = 0
    try {
      for (const job of jobs) {
        ran += 1
        const outcome = await (jobs.length === 1 ? this.#runAlone(job, turn) : this.#runAmongOthers(job, turn))
        if (outcome.kind === 'overdue') return this.#runOthersAgain(jobs, job)
        if (outcome.kind === 'failed' && jobs.length === 1) return this.#undoLone(job, outcome.error)
        if (outcome.kind === 'done') answers.push(outcome.answer)
        else answers.push(() => job.reject(outcome.error))
      }
      this.#writer.commit()
      this.commits += 1
    } catch (error) {
      this.#waiting.unshift(...jobs.slice(ran))
      return this.#batchFailed(jobs.slice(0, ran), error)
    } finally {
      turn.end()
    }
    await this.#answer(jobs, answers)
  }

  async #answer(jobs: readonly Job<Q>[], answers: readonly (() => void)[]): Promise<void> {
    try {
      await this.options.durable()
    } catch (error) {
      return this.#lose(jobs, error)
    }
    this.transactions += jobs.length
    this.#underWay = jobs.length + this.#waiting.length
    for (const answer of answers) answer()
    await this.options.settled()
    this.#again()
  }

  /** A lone transaction needs no savepoint: what undoes it undoes all there is. */
  async #runAlone(job: Job<Q>, turn: Turn): Promise<Outcome> {
    const outcome = await turn.run(job.run(this.#writer.queries))
    if (outcome.kind === 'failed' && faultKind(outcome.error) !== 'statement') throw outcome.error
    return outcome
  }

  async #runAmongOthers(job: Job<Q>, turn: Turn): Promise<Outcome> {
    this.#writer.savepoint()
    const outcome = await this.#runAlone(job, turn)
    if (outcome.kind === 'done') this.#writer.release()
    if (outcome.kind === 'failed') this.#writer.rollbackToSavepoint()
    return outcome
  }

  /** What it read was durable before it began, so its refusal need not wait. */
  #undoLone(job: Job<Q>, error: unknown): void {
    this.#writer.rollback()
    this.transactions += 1
    job.reject(error)
    this.#again()
  }

  /**
   * The overdue body may still hold its queries: their connection goes, and the others of its batch run again on a new
   * one.
   */
  #runOthersAgain(jobs: readonly Job<Q>[], overdue: Job<Q>): void {
    overdue.reject(new TransactionOverdue())
    this.#waiting.unshift(...jobs.filter((job) => job !== overdue))
    try {
      this.#writer.rollback()
      this.#writer = this.options.replaceWriter(this.#writer)
    } catch (error) {
      return this.#lose([], error)
    }
    this.#again()
  }

  #batchFailed(jobs: readonly Job<Q>[], error: unknown): void {
    try {
      this.#writer.rollback()
    } catch (rollbackError) {
      return this.#lose(jobs, rollbackError)
    }
    const kind = faultKind(error)
    if (kind === 'state_unknown') return this.#lose(jobs, error)
    if (kind === 'full') this.#ranOut(jobs)
    else for (const job of jobs) job.reject(unavailable(1))
    this.#again()
  }

  /** Those that end access try once more when there is room for them. */
  #ranOut(jobs: readonly Job<Q>[]): void {
    const hasRoom = this.options.full(jobs.some(({ endsAccess }) => endsAccess))
    for (const job of jobs) {
      if (hasRoom && job.endsAccess) this.#waiting.push(job)
      else job.reject(unavailable(5))
    }
  }

  #lose(jobs: readonly Job<Q>[], error: unknown): void {
    this.options.stateUnknown(error)
    this.stop(() => unavailable(30))
    for (const job of jobs) job.reject(unavailable(30))
    this.#again()
  }

  /** The next batch, with those who arrive in this turn, and with those who are expected to come soon. */
  #again(): void {
    const expected = Math.min(this.#underWay, this.options.batchLimit)
    gather(
      () => this.#waiting.length,
      expected,
      () => this.#next(),
    )
  }
}
