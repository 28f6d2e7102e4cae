import { closeSync, fdatasync, openSync } from 'node:fs'
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { refuse } from '../../src/domain/errors.ts'
import type { WritingConnection } from './reader-and-writer.ts'
import { faultKind } from './fault.ts'

/** What group commit needs of a writing connection. */
export type CommitWriter<Q> = Pick<
  WritingConnection<Q>,
  'queries' | 'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'rollbackToSavepoint'
>

export type CommitOptions<Q> = {
  readonly writer: CommitWriter<Q>
  /** A fresh connection in place of one whose queries an overdue transaction may still hold. */
  readonly replaceWriter: () => CommitWriter<Q>
  /** How long a transaction waits for another process, or a long transaction of this one, to let it write. */
  readonly longestWaitMs: number
  /** Whether all transactions share that wait: one that comes after it is refused at once while the lock is still held. */
  readonly waitsOnce?: boolean
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

/** One transaction. Its body may run several times; the outcome of the last run counts. */
type Job<Q> = {
  work(queries: Q): Awaitable<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  readonly endsAccess: boolean
  readonly isLong: boolean
  readonly askedAt: number
  value: unknown
  failure: { readonly error: unknown } | null
}

type JobOptions = {
  readonly endsAccess?: boolean | undefined
  /** Whether it is a batch of its own, which may take many turns of the event loop. */
  readonly isLong?: boolean | undefined
}

/** The transactions of one commit, and how many of them have had their turn. */
type Batch<Q> = { readonly jobs: readonly Job<Q>[]; ran: number }

/** How a batch ended. `locked`: another process is writing, and no transaction was taken. */
type BatchEnd =
  { readonly kind: 'locked' | 'committed' | 'overdue' } | { readonly kind: 'failed'; readonly error: unknown }

const longestQueue = 10_000
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
 * Group commit. Transactions that arrive together run one after the other between one BEGIN and one COMMIT, each under its
 * own savepoint, and are answered after one sync. While a sync is under way, the next batch gathers. Batches never overlap,
 * so whatever a transaction reads was durable before its batch began or becomes durable with its own batch: a transaction
 * that changed nothing, or that failed, waits all the same.
 *
 * A long transaction is a batch of its own. It may pause until a later turn of the event loop, so that reads are answered
 * meanwhile.
 */
export class Commits<Q> {
  transactions = 0
  commits = 0
  /** How often another process held the lock when a batch was to begin. */
  lockWaits = 0
  /** Since when another process holds the write lock, as far as is known; null when none does. */
  #lockedSince: number | null = null

  #writer: CommitWriter<Q>
  /** In order of arrival. */
  #waiting: Job<Q>[] = []
  #running = false
  #refusal: (() => Error) | null = null
  #idle: (() => void) | null = null
  #busyTries = 0
  /** How many transactions were under way when the last batch was answered. */
  #underWay = 1

  constructor(private readonly options: CommitOptions<Q>) {
    this.#writer = options.writer
  }

  transaction<T>(
    work: (queries: Q) => Awaitable<T>,
    { endsAccess = false, isLong = false }: JobOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal())
      if (this.#waiting.length >= longestQueue) return reject(unavailable(1))
      const askedAt = performance.now()
      this.#waiting.push({ work, resolve, reject, endsAccess, isLong, askedAt, value: undefined, failure: null })
      if (!this.#running) void this.#run()
    })
  }

  /** Refuses everything from now on, also the waiting transactions. If it is called again, the first refusal stays. */
  stop(refusal: () => Error): void {
    this.#refusal ??= refusal
    for (const job of this.#waiting.splice(0)) job.reject(this.#refusal())
  }

  /** Takes no more transactions and resolves when all that were taken are answered. */
  async drain(): Promise<void> {
    this.#refusal ??= () => unavailable(1)
    if (this.#running) await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  /** Checks whether another process holds the write lock, which nobody would notice while no transaction runs. */
  probe(): void {
    if (this.#running || this.#refusal !== null) return
    try {
      this.#writer.begin()
      this.#writer.rollback()
      this.#lockedSince = null
    } catch (error) {
      if (faultKind(error) === 'busy') this.#lockedSince ??= performance.now()
      else this.#fail([], error)
    }
  }

  /** Whether another process has held the write lock for so long that an operator should know. */
  get isLocked(): boolean {
    return this.#lockedSince !== null && performance.now() - this.#lockedSince >= longestLockMs
  }

  async #run(): Promise<void> {
    this.#running = true
    for (;;) {
      await this.#gather()
      if (this.#waiting.length === 0) break
      const batch: Batch<Q> = { jobs: [], ran: 0 }
      const end = this.#begin(batch) ?? (await this.#runBodies(batch))
      switch (end.kind) {
        case 'locked':
          await this.#waitForLock()
          break
        case 'committed':
          await this.#answer(batch.jobs)
          break
        case 'overdue':
          this.#runOthersAgain(batch)
          break
        case 'failed':
          this.#waiting.unshift(...batch.jobs.slice(batch.ran))
          this.#fail(batch.jobs.slice(0, batch.ran), end.error)
          break
        default:
          end satisfies never
      }
    }
    this.#running = false
    this.#idle?.()
  }

  /**
   * Waits until the end of this turn of the event loop, or of a later one: until as many transactions wait as are expected, or
   * no more arrive. A caller that was just answered tends to ask again at once, and a commit costs the same whatever is in
   * it. Without this wait, callers fall into two groups, one of which asks while the other one is synced, and each commit has
   * half of them: `POST /token` then costs 5.7 µs more and a refresh 9 µs more (measured). A lone caller does not wait.
   */
  #gather(): Promise<void> {
    const silenceMs = 0.15
    const longestMs = 2
    const expected = Math.min(this.#underWay, this.options.batchLimit)
    const startedAt = performance.now()
    let seen = 0
    let lastArrivalAt = startedAt
    return new Promise((resolve) => {
      const look = () => {
        const count = this.#waiting.length
        if (count === 0 || count >= expected) return resolve()
        const now = performance.now()
        if (count > seen) lastArrivalAt = now
        seen = count
        if (now - lastArrivalAt > silenceMs || now - startedAt > longestMs) return resolve()
        setImmediate(look)
      }
      setImmediate(look)
    })
  }

  /** Begins a batch and takes its jobs. Returns how the batch ended if it could not begin. */
  #begin(batch: { jobs: readonly Job<Q>[]; ran: number }): BatchEnd | null {
    try {
      this.options.beginning()
      this.#writer.begin()
      this.#busyTries = 0
      this.#lockedSince = null
      batch.jobs = this.#take()
      return null
    } catch (error) {
      if (faultKind(error) === 'busy') return { kind: 'locked' }
      batch.jobs = this.#take()
      batch.ran = batch.jobs.length
      return { kind: 'failed', error }
    }
  }

  /** Takes those of the next batch: all that wait, up to the limit or the first long one, or a long one alone. */
  #take(): readonly Job<Q>[] {
    const { batchLimit } = this.options
    const end = this.#waiting.findIndex((job, index) => job.isLong || index === batchLimit)
    return this.#waiting.splice(0, end === -1 ? batchLimit : Math.max(1, end))
  }

  /** Runs the bodies and commits, within one turn of the event loop unless the batch is a long transaction. */
  async #runBodies(batch: Batch<Q>): Promise<BatchEnd> {
    const { promise: overdue, resolve } = Promise.withResolvers<BatchEnd>()
    let isOverdue = false
    const isLong = batch.jobs[0]?.isLong === true
    const nextTurn = isLong
      ? undefined
      : setImmediate(() => {
          isOverdue = true
          resolve({ kind: 'overdue' })
        })
    const looks = isLong ? setInterval(() => this.#refuseExpired(), lookMs) : undefined
    try {
      return await Promise.race([this.#bodies(batch, () => isOverdue), overdue])
    } finally {
      clearImmediate(nextTurn)
      clearInterval(looks)
    }
  }

  async #bodies(batch: Batch<Q>, isOverdue: () => boolean): Promise<BatchEnd> {
    const writer = this.#writer
    try {
      for (const job of batch.jobs) {
        batch.ran += 1
        writer.savepoint()
        try {
          const value = job.work(writer.queries)
          job.value = value instanceof Promise ? await value : value
          job.failure = null
        } catch (error) {
          job.failure = { error }
        }
        if (isOverdue()) return { kind: 'overdue' } // nobody waits for this any more
        if (job.failure === null) writer.release()
        else if (faultKind(job.failure.error) === 'statement') writer.rollbackToSavepoint()
        else return { kind: 'failed', error: job.failure.error }
      }
      writer.commit()
      this.commits += 1
      return { kind: 'committed' }
    } catch (error) {
      return { kind: 'failed', error }
    }
  }

  /** Another process is writing. Waiting inside SQLite would stop every request, so this waits outside. */
  async #waitForLock(): Promise<void> {
    this.#lockedSince ??= performance.now()
    this.#refuseExpired()
    this.#busyTries += 1
    this.lockWaits += 1
    await Bun.sleep(Math.random() * Math.min(20, 2 * this.#busyTries))
  }

  #refuseExpired(): void {
    const askedBefore = performance.now() - this.options.longestWaitMs
    const hasWaited = this.options.waitsOnce === true && this.#lockedSince !== null && this.#lockedSince < askedBefore
    const hasExpired = ({ askedAt }: { readonly askedAt: number }) => hasWaited || askedAt < askedBefore
    const expired = this.#waiting.filter(hasExpired)
    if (expired.length === 0) return
    this.#waiting = this.#waiting.filter((job) => !hasExpired(job))
    // On a busy machine the first try may come long after the question: they were still refused for the lock, and are told so.
    if (this.#lockedSince !== null)
      this.#lockedSince = Math.min(this.#lockedSince, ...expired.map((job) => job.askedAt))
    for (const job of expired) job.reject(unavailable(1))
  }

  async #answer(jobs: readonly Job<Q>[]): Promise<void> {
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
  }

  /** The overdue body may still hold its queries, so their connection is replaced. The others of its batch run again. */
  #runOthersAgain({ jobs, ran }: Batch<Q>): void {
    const overdue = jobs[ran - 1]
    overdue?.reject(new TransactionOverdue())
    this.#waiting.unshift(...jobs.filter((job) => job !== overdue))
    try {
      this.#writer.rollback()
      this.#writer = this.options.replaceWriter()
    } catch (error) {
      this.#lose([], error)
    }
  }

  /** Nothing of the batch was committed. On a full disk, transactions that end access run once more if there is room for them. */
  #fail(jobs: readonly Job<Q>[], error: unknown): void {
    try {
      this.#writer.rollback()
    } catch (rollbackError) {
      return this.#lose(jobs, rollbackError)
    }
    const kind = faultKind(error)
    if (kind === 'state_unknown') return this.#lose(jobs, error)
    const hasRoom = kind === 'full' && this.options.full(jobs.some(({ endsAccess }) => endsAccess))
    const runsAgain = (job: Job<Q>) => hasRoom && job.endsAccess
    for (const job of jobs) if (!runsAgain(job)) job.reject(unavailable(kind === 'full' ? 5 : 1))
    this.#waiting.unshift(...jobs.filter(runsAgain))
  }

  #lose(jobs: readonly Job<Q>[], error: unknown): void {
    this.options.stateUnknown(error)
    this.stop(() => unavailable(30))
    for (const job of jobs) job.reject(unavailable(30))
  }
}

/**
 * Makes commits durable without stopping the event loop. The writing connection commits with `synchronous = NORMAL`,
 * which writes the whole commit to the WAL but leaves it to the system; a sync of the WAL that begins after COMMIT
 * returned covers it. That is what FULL does, a few lines later:
 * - A checkpoint, by whichever process, syncs the WAL before it copies from it, and the database before it counts pages
 *   as copied. So a commit whose frames were checkpointed before our sync is durable already.
 * - The WAL restarts only when all of it was copied and synced; its new header is synced at NORMAL too, before new
 *   frames.
 * - A sync that fails, here or in another process, is reported once to each open descriptor, so also to this one (Linux
 *   ≥ 4.13). What it covered is unknown from then on; the caller must stop writing. The WAL is never removed while a
 *   connection is open, and SQLite takes no POSIX lock on it, so holding it open is safe. The database file and its
 *   -shm must never be opened this way: closing them would drop SQLite's locks.
 */
export class WalSync {
  readonly #descriptor: number

  constructor(
    wal: string,
    private readonly took: (milliseconds: number) => void = () => undefined,
  ) {
    this.#descriptor = openSync(wal, 'r+')
  }

  sync(): Promise<void> {
    const began = performance.now()
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        this.took(performance.now() - began)
        if (error) reject(error)
        else resolve()
      })
    })
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
