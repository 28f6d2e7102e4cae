/**
 * Transactions that read without locks and then make one change that has its own conditions. They need no connection of their
 * own, no BEGIN and no COMMIT, and the changes of those that are ready together are one statement: PostgreSQL, the network and this
 * process pay once for all of them. What cannot be done in this way runs again as a transaction with locks.
 */
import type { Awaitable } from '../../src/domain/awaitable.ts'
import { KeyTaken } from '../../src/domain/time-key.ts'
import type { Change, Wire } from './dialect.ts'
import { isOfValues, postgresFault, sqlState } from './fault.ts'
import type { Link } from './link.ts'
import { type Member, Pool, type Pooled } from './pool.ts'
import type { Primary } from './primary.ts'
import { listsOf, Rounds } from './rounds.ts'
import type { Timelines } from './timelines.ts'

/** Ends this run. The body runs again with locks: it needs them, its change was not made, or nobody knows whether it was. */
class RunGuarded extends Error {}

/** How many bodies run at once. Each has queries of its own, which know to which body they belong. */
const mostBodies = 32
/** How long a body counts, in milliseconds: one that waits for a server that hangs must not hold up others. */
const longestBodyMs = 1_000
/** How many calls share a statement. */
const mostCalls = 64

/** What became of one run of a body. */
export type RunOutcome<T> =
  | {
      readonly kind: 'done'
      readonly value: T
      /** The connection of one that has changed nothing, so that no commit has shown whether its server is still the primary. */
      readonly onlyRead?: Link | null
    }
  | { readonly kind: 'again'; readonly cause?: unknown }
const again = { kind: 'again' } as const

type Parts<Q> = {
  readonly readers: Pick<Wire, 'read'>
  /** Whose connections send the changes. */
  readonly pool: Pool<Member<Q>>
  readonly primary: Primary
  readonly timelines: Timelines
  readonly createQueries: (wire: Wire) => Q
  readonly isPatient: boolean
}

export class Conditional<Q> {
  readonly #changes: Changes
  readonly #bodies: Pool<Body<Q>>

  constructor(parts: Parts<Q>) {
    this.#changes = new Changes(parts.pool, parts.timelines)
    this.#bodies = new Pool(mostBodies, parts.isPatient, async () => new Body(this.#changes, parts))
  }

  /**
   * Runs the body, unless it needs locks: then it is to run again, as `guarded`. When it runs again, it must recognise a change that it
   * has made; a row that it has inserted has the key of the one that it inserts again. So it needs no ID of a transaction, by which one
   * could ask whether a change without an answer was kept.
   * @throws unavailable, KeyTaken
   */
  async run<T>(work: (queries: Q) => Awaitable<T>): Promise<RunOutcome<T>> {
    try {
      return { kind: 'done', value: await this.#bodies.use(async (body) => await body.run(work)) }
    } catch (error) {
      if (error instanceof RunGuarded) return again
      throw error
    }
  }

  /** Lets others go on beside what hangs, and refuses what has waited for too long. To be called now and then. */
  passStuck(): void {
    this.#bodies.closeStuck(longestBodyMs)
    this.#changes.begin()
  }
}

class Body<Q> implements Pooled {
  isOpen = true
  readonly #queries: Q
  #startedAt = 0
  #isRunning = false
  #hasReadUnlocked = false
  #hasChanged = false
  /** An insert, which is made when the body has ended. */
  #insert: { readonly change: Change; readonly values: unknown[] } | null = null
  /** The history that the reads are of. */
  #timeline = ''

  constructor(
    private readonly changes: Changes,
    private readonly parts: Parts<Q>,
  ) {
    this.#queries = parts.createQueries({
      read: (selection, values) => {
        this.#refuseLate()
        if (this.#insert !== null) throw new RunGuarded()
        if (selection.locks) this.#hasReadUnlocked = true
        return parts.readers.read(selection, values)
      },
      insert: (change, values) => {
        this.#refuseLate()
        // What was read without the lock that it asks for is only good for a change with conditions.
        if (this.#hasReadUnlocked || this.#insert !== null) throw new RunGuarded()
        this.#insert = { change, values }
      },
      change: async (change, values) => {
        this.#refuseLate()
        if (this.#insert !== null) throw new RunGuarded()
        await this.#make(change, values)
        return true
      },
      push: () => this.#runGuarded(),
      send: () => this.#runGuarded(),
    })
  }

  #start(): void {
    this.#startedAt = performance.now()
    this.#isRunning = true
    this.#hasReadUnlocked = false
    this.#hasChanged = false
    this.#insert = null
    this.#timeline = this.parts.primary.timeline
  }

  async run<T>(work: (queries: Q) => Awaitable<T>): Promise<T> {
    this.#start()
    try {
      const value = await work(this.#queries)
      if (this.#insert !== null) await this.#make(this.#insert.change, this.#insert.values)
      return value
    } catch (error) {
      const fault = postgresFault(error)
      // If the connection was lost, the body finds out with locks whether its change was made.
      throw fault === 'rerun' || fault === 'lost' ? new RunGuarded() : error
    } finally {
      this.#isRunning = false
    }
  }

  waitingMs(now: number): number {
    return now - this.#startedAt
  }

  /** It runs to its end, and is not used again. */
  close(): void {
    this.isOpen = false
  }

  /** @throws RunGuarded if nothing was changed: the row may only be locked by another transaction */
  async #make(change: Change, values: unknown[]): Promise<void> {
    if (this.parts.primary.timeline !== this.#timeline) throw new RunGuarded()
    if (!(await this.changes.make(change, values, this.#timeline))) throw new RunGuarded()
    this.#hasChanged = true
  }

  #runGuarded(): never {
    this.#refuseLate()
    throw new RunGuarded()
  }

  #refuseLate(): void {
    if (!this.#isRunning) throw new Error('A query was used outside of its transaction.')
    if (this.#hasChanged) throw new Error('A query was used after the change that ends its transaction.')
  }
}

type Call = {
  readonly values: unknown[]
  readonly timeline: string
  resolve(isMade: boolean): void
  reject(error: unknown): void
}
type Waiting = { readonly change: Change; readonly calls: Call[] }

/** The changes that wait to be sent. */
class Changes {
  /** By their statement, which the queries of each body have written alike. */
  readonly #waiting = new Map<string, Waiting>()
  readonly #rounds = new Rounds(() => this.#send())

  constructor(
    private readonly pool: Pool<{ readonly link: Link; readonly timeline: string } & Pooled>,
    private readonly timelines: Timelines,
  ) {}

  /** False if its conditions were not met, or another transaction holds its row. @throws ConnectionLost, KeyTaken, unavailable */
  make(change: Change, values: unknown[], timeline: string): Promise<boolean> {
    this.#rounds.ask()
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const call = { values, timeline, resolve, reject }
    const known = this.#waiting.get(change.text)
    if (known === undefined) this.#waiting.set(change.text, { change, calls: [call] })
    else known.calls.push(call)
    return promise
  }

  begin(): void {
    this.#rounds.begin()
  }

  #send(): Promise<void> | null {
    for (const waiting of this.#waiting.values()) return this.#sendTogether(waiting.change, this.#take(waiting))
    return null
  }

  /** The first calls that fit into one statement. Those that are left wait behind the other changes. */
  #take({ change, calls }: Waiting): readonly Call[] {
    const { text, apart } = change
    this.#waiting.delete(text)
    const taken: Call[] = []
    const left: Call[] = []
    const met = new Set<unknown>()
    for (const call of calls) {
      const name = apart === null ? call : call.values[apart]
      if (taken.length === mostCalls || met.has(name)) left.push(call)
      else {
        met.add(name)
        taken.push(call)
      }
    }
    if (left.length > 0) this.#waiting.set(text, { change, calls: left })
    return taken
  }

  async #sendTogether(change: Change, calls: readonly Call[]): Promise<void> {
    try {
      const made = await this.#sendOnce(change, calls)
      for (const [index, { resolve }] of calls.entries()) resolve(made(index))
    } catch (error) {
      if (calls.length > 1 && isOfValues(error)) {
        // Nothing was kept of the others either. For any other reason each would be refused in turn, such as after 5 s at a lock.
        for (const call of calls) await this.#sendTogether(change, [call])
        return
      }
      for (const { reject } of calls) reject(sqlState(error) === '23505' ? new KeyTaken() : error)
    }
  }

  async #sendOnce({ text, apart }: Change, calls: readonly Call[]): Promise<(index: number) => boolean> {
    const lists = listsOf(calls.map(({ values }) => values))
    let isSent = false
    try {
      return await this.pool.use(async ({ link, timeline }) => {
        if (calls.some((call) => call.timeline !== timeline)) return () => false
        link.start()
        isSent = true
        const { rows } = await link.send(text, lists, true)
        if (link.transactionId !== null) this.timelines.note(link.transactionId)
        if (apart === null) return () => true
        const changed = new Set(rows.map(([call]) => Number(call) - 1))
        return (index) => changed.has(index)
      })
    } catch (error) {
      if (!isSent && postgresFault(error) === 'lost') return () => false // no connection could be opened
      throw error
    }
  }
}
