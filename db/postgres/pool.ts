import type { Link } from './link.ts'
import { listsOf } from './rounds.ts'
import { KeyTaken } from '../../src/domain/time-key.ts'
import type { Sent, Wire } from './dialect.ts'
import { hasNoRoom, sqlState, unavailable } from './fault.ts'
import type { PrimaryLink } from './primary.ts'

/** How long a transaction waits for a free connection, at least. `closeStuck` looks at it. */
const longestWaitMs = 5_000
/** How many may wait. */
const longestQueue = 10_000

/** What serves one transaction at a time. */
export type Pooled = {
  readonly isOpen: boolean
  /** For how many milliseconds its server has not answered, about. */
  waitingMs(now: number): number
  close(): void
}

/** A connection for one transaction at a time, with its queries. They refuse to run outside of a transaction. */
export class Member<Q> implements Pooled {
  readonly queries: Q
  readonly link: Link
  readonly timeline: string
  isInTransaction = false
  /** Whether BEGIN was sent. What only reads and locks nothing comes before, because it would see the same inside. */
  hasBegun = false
  /** The connection that was read from before BEGIN; null if nothing was. */
  readFrom: Link | null = null
  /** Settles when the last pushed statement has been answered, and so all before it. It never rejects. */
  pushed: Promise<void> | null = null
  /** Writes before BEGIN, which goes with the first statement that is waited for. */
  #kept: Push[] = []

  constructor(
    { link, timeline }: PrimaryLink,
    createQueries: (wire: Wire) => Q,
    /** A connection that several transactions read from at once, because statements that are sent together cost less. */
    private readonly shared: () => Link | null,
  ) {
    this.link = link
    this.timeline = timeline
    this.queries = createQueries({
      read: ({ text, inside, locks }, values) => {
        this.#refuseLate()
        if (locks || this.#kept.length > 0) this.begin()
        if (this.hasBegun) return inside === null ? link.send(text, values) : link.send(inside, values, true)
        this.readFrom ??= this.shared() ?? link
        return this.readFrom.send(text, values)
      },
      send: (text, values) => {
        this.#refuseLate()
        if (!this.hasBegun) {
          this.begin()
          link.askId().catch(() => undefined) // with this statement, and not later by itself
        }
        return link.send(text, values)
      },
      push: (text, values) => this.#pushLater({ text, values, isFresh: false }),
      insert: ({ text }, values) => this.#pushLater({ text, values: listsOf([values]), isFresh: true }),
      change: async ({ text }, values) => {
        this.#refuseLate()
        this.begin()
        return (await this.#freshly(link.send(text, listsOf([values]), true))).rows.length > 0
      },
    })
  }

  start(): void {
    this.isInTransaction = true
    this.hasBegun = false
    this.readFrom = null
    this.pushed = null
    if (this.#kept.length > 0) this.#kept = []
    this.link.start()
  }

  /** Sends BEGIN and the writes that were kept until now, unless it was sent. */
  begin(): void {
    if (this.hasBegun) return
    this.hasBegun = true
    this.link.begin()
    for (const push of this.#kept.splice(0)) this.pushed = this.#push(push)
  }

  get isOpen(): boolean {
    return this.link.isOpen
  }

  waitingMs(now: number): number {
    return this.link.waitingMs(now)
  }

  close(): void {
    this.link.close()
  }

  get hasWritten(): boolean {
    return this.hasBegun || this.#kept.length > 0
  }

  /**
   * Whether what was read comes from the server that the transaction commits on. When a newer primary is met, all connections to the
   * one before it are closed.
   */
  get readsAreCurrent(): boolean {
    return this.readFrom === null || this.readFrom.isOpen
  }

  #refuseLate(): void {
    if (!this.isInTransaction) throw new Error('A query was used outside of its transaction.')
  }

  #pushLater(push: Push): void {
    this.#refuseLate()
    if (this.hasBegun) this.pushed = this.#push(push)
    else this.#kept.push(push)
  }

  async #push({ text, values, isFresh }: Push): Promise<void> {
    const sent = this.link.send(text, values)
    try {
      await (isFresh ? this.#freshly(sent) : sent)
    } catch {
      // The link has noted the failure of the transaction.
    }
  }

  /** Notes `KeyTaken` if the statement, which inserts a row under a fresh key, is the one that failed, and for that. */
  async #freshly(sent: Promise<Sent>): Promise<Sent> {
    const { link } = this
    try {
      return await sent
    } catch (error) {
      if (link.failure?.error === error && sqlState(error) === '23505') link.failure = { error: new KeyTaken() }
      throw error
    }
  }
}

type Push = { readonly text: string; readonly values: unknown[]; readonly isFresh: boolean }

/** So many members, made when they are needed. The first that waits gets the next free one. */
export class Pool<M extends Pooled> {
  #idle: M[] = []
  readonly #busy = new Set<M>()
  #free: number
  #isClosed = false
  #waiting: { readonly since: number; readonly take: () => void; readonly giveUp: (error: unknown) => void }[] = []

  constructor(
    size: number,
    /** Whether transactions wait as long as it takes. */
    private readonly isPatient: boolean,
    private readonly connect: () => Promise<M>,
  ) {
    this.#free = size
  }

  /** @throws unavailable if none becomes free in time, and what `connect` throws */
  async use<T>(work: (member: M) => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait()
    let member: M
    try {
      member = this.#takeIdle() ?? (await this.#member())
    } catch (error) {
      this.#giveBack()
      throw error
    }
    this.#busy.add(member)
    try {
      return await work(member)
    } finally {
      if (this.#busy.delete(member)) {
        if (this.#isClosed) member.close()
        else if (member.isOpen) this.#idle.push(member)
        this.#giveBack()
      }
    }
  }

  /**
   * Closes members whose server has not answered for so long, in milliseconds, and lets others have their places; refuses what has
   * waited for too long. Called by one timer, because a timer for each transaction that waits would cost more than its wait.
   */
  closeStuck(longestMs: number): void {
    const now = performance.now()
    for (const member of this.#busy) {
      if (member.waitingMs(now) <= longestMs) continue
      this.#busy.delete(member)
      member.close()
      this.#giveBack()
    }
    if (this.isPatient) return
    const kept = this.#waiting.findIndex(({ since }) => now - since < longestWaitMs)
    for (const { giveUp } of this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept)) giveUp(unavailable(1))
  }

  get hasConnection(): boolean {
    return this.#idle.some(({ isOpen }) => isOpen) || [...this.#busy].some(({ isOpen }) => isOpen)
  }

  /** Closes each connection, a busy one after its work. */
  close(): void {
    this.#isClosed = true
    for (const member of this.#idle.splice(0)) member.close()
  }

  /** Where the server has no room for another connection, it is one of those that are open. */
  async #member(): Promise<M> {
    for (;;) {
      const idle = this.#takeIdle()
      if (idle !== undefined) return idle
      try {
        return await this.connect()
      } catch (error) {
        if (!hasNoRoom(error) || this.#busy.size === 0) throw error
      }
      this.#free += 1
      await this.#wait().catch((error: unknown) => {
        this.#free -= 1
        throw error
      })
    }
  }

  /** The place of a member that is not in use any more. */
  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next.take()
  }

  #takeIdle(): M | undefined {
    for (;;) {
      const member = this.#idle.pop()
      if (member === undefined || member.isOpen) return member
    }
  }

  async #wait(): Promise<void> {
    if (this.#waiting.length >= longestQueue) throw unavailable(1)
    await new Promise<void>((take, giveUp) => this.#waiting.push({ since: performance.now(), take, giveUp }))
  }
}
