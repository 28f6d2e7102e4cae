import { idColumn, type Link } from './link.ts'
import { KeyTaken } from '../../src/domain/time-key.ts'
import type { Sent, Wire } from './dialect.ts'
import { ConnectionLost, hasNoRoom, sqlState, unavailable } from './fault.ts'
import type { PrimaryLink } from './primary.ts'

/** How long a transaction waits for a free connection, at least. `closeStuck` looks at it. */
const longestWaitMs = 5_000
/** How many may wait. */
const longestQueue = 10_000

/**
 * What a run of a transaction may do. `locking`: it locks what it reads to be changed. `hopeful`: it locks nothing, and writes
 * nothing but one change that has its own conditions.
 */
type Manner = 'locking' | 'hopeful'

/** Thrown at what a hopeful run must not do. It runs again with locks. */
export class NeedsLocks extends Error {}

/** A connection for one transaction at a time, with its queries. They refuse to run outside of a transaction. */
export class Member<Q> {
  readonly queries: Q
  readonly link: Link
  readonly timeline: string
  isInTransaction = false
  /** Whether BEGIN was sent. What only reads and locks nothing comes before, because it would see the same inside. */
  hasBegun = false
  /** The connection that was read from before BEGIN; null if nothing was. */
  readFrom: Link | null = null
  /** Writes before BEGIN: one alone needs none. */
  kept: Push[] = []
  /** Settles when the last pushed statement has been answered, and so all before it. It never rejects. */
  pushed: Promise<void> | null = null
  /** What became of the change of a hopeful run, which commits by itself. */
  ownCommit: 'none' | 'unknown' | 'kept' = 'none'
  /** Whether something was read that a locking run would have locked. */
  #hasHoped = false
  #manner: Manner = 'locking'

  constructor(
    { link, timeline }: PrimaryLink,
    createQueries: (wire: Wire) => Q,
    /** A connection that several transactions read from at once, because statements that are sent together cost less. */
    private readonly shared: () => Link | null,
  ) {
    this.link = link
    this.timeline = timeline
    this.queries = createQueries({
      read: (text, inside, locks, values) => {
        this.#refuseLate()
        if (locks && this.#manner === 'hopeful') this.#hasHoped = true
        else if (locks || this.kept.length > 0) this.begin()
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
      push: (text, values, isFresh) => {
        this.#refuseLate()
        if (this.hasBegun) this.pushed = this.#push({ text, values, isFresh })
        else if (this.#hasHoped) throw new NeedsLocks()
        else this.kept.push({ text, values, isFresh })
      },
      change: (text, values) => {
        this.#refuseLate()
        if (this.#manner === 'locking') this.begin()
        return this.hasBegun ? this.#freshly(link.send(text, values, true)) : this.#changeAlone(text, values)
      },
    })
  }

  start(manner: Manner): void {
    this.isInTransaction = true
    this.hasBegun = false
    this.readFrom = null
    this.pushed = null
    this.ownCommit = 'none'
    this.#hasHoped = false
    this.#manner = manner
    if (this.kept.length > 0) this.kept = []
    this.link.start()
  }

  /** Sends BEGIN and the writes that were kept until now, unless it was sent. */
  begin(): void {
    if (this.hasBegun) return
    if (this.#hasHoped) throw new NeedsLocks()
    this.hasBegun = true
    this.link.begin()
    for (const push of this.kept.splice(0)) this.pushed = this.#push(push)
  }

  /**
   * Makes the only change of a transaction, which needs no BEGIN and no COMMIT. Returns the ID of the transaction, or null if
   * nothing was changed. A failure is noted.
   */
  async change({ text, values, isFresh }: Push): Promise<string | null> {
    await this.#push({ text: `${text} returning ${idColumn}`, values, isFresh, hasId: true })
    return this.link.transactionId
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
    if (this.ownCommit === 'kept') throw new Error('A query was used after the change that ends its transaction.')
  }

  /** The change commits by itself, so nothing may have been written before. */
  async #changeAlone(text: string, values: unknown[]): Promise<Sent> {
    if (this.kept.length > 0) throw new NeedsLocks()
    if (!this.readsAreCurrent || !this.link.isOpen) throw new ConnectionLost()
    this.ownCommit = 'unknown'
    const sent = await this.#freshly(this.link.send(text, values, true))
    this.ownCommit = sent.changes > 0 ? 'kept' : 'none'
    return sent
  }

  async #push({ text, values, isFresh, hasId = false }: Push): Promise<void> {
    const sent = this.link.send(text, values, hasId)
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

export type Push = {
  readonly text: string
  readonly values: unknown[]
  readonly isFresh: boolean
  readonly hasId?: boolean
}

/** So many connections, opened when they are needed. The first that waits gets the next free one. */
export class Pool<Q> {
  #idle: Member<Q>[] = []
  readonly #busy = new Set<Member<Q>>()
  #free: number
  #isClosed = false
  #waiting: { readonly since: number; readonly take: () => void; readonly giveUp: (error: unknown) => void }[] = []

  constructor(
    size: number,
    /** Whether transactions wait as long as it takes. */
    private readonly isPatient: boolean,
    private readonly connect: () => Promise<Member<Q>>,
  ) {
    this.#free = size
  }

  /** @throws unavailable if none becomes free in time, and what `connect` throws */
  async use<T>(work: (member: Member<Q>) => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait()
    try {
      const member = this.#takeIdle() ?? (await this.#member())
      this.#busy.add(member)
      try {
        return await work(member)
      } finally {
        this.#busy.delete(member)
        if (this.#isClosed) member.link.close()
        else if (member.link.isOpen) this.#idle.push(member)
      }
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next.take()
    }
  }

  /**
   * Closes connections whose server has not answered for so long, in milliseconds, and refuses what has waited for too long. Called
   * by one timer, because a timer for each transaction that waits would cost more than its wait.
   */
  closeStuck(longestMs: number): void {
    const now = performance.now()
    for (const { link } of this.#busy) if (link.waitingMs(now) > longestMs) link.close()
    if (this.isPatient) return
    const kept = this.#waiting.findIndex(({ since }) => now - since < longestWaitMs)
    for (const { giveUp } of this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept)) giveUp(unavailable(1))
  }

  get hasConnection(): boolean {
    return this.#idle.some(({ link }) => link.isOpen) || [...this.#busy].some(({ link }) => link.isOpen)
  }

  /** Closes each connection, a busy one after its work. */
  close(): void {
    this.#isClosed = true
    for (const { link } of this.#idle.splice(0)) link.close()
  }

  /** Where the server has no room for another connection, it is one of those that are open. */
  async #member(): Promise<Member<Q>> {
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

  #takeIdle(): Member<Q> | undefined {
    for (;;) {
      const member = this.#idle.pop()
      if (member === undefined || member.link.isOpen) return member
    }
  }

  async #wait(): Promise<void> {
    if (this.#waiting.length >= longestQueue) throw unavailable(1)
    await new Promise<void>((take, giveUp) => this.#waiting.push({ since: performance.now(), take, giveUp }))
  }
}
