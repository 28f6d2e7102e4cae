import type { Link } from './link.ts'
import type { Wire } from './dialect.ts'
import { unavailable } from './fault.ts'
import type { PrimaryLink } from './primary.ts'

/** How long a transaction waits for a free connection. */
const longestWaitMs = 5_000
/** How many may wait. */
const longestQueue = 10_000

/** A connection for one transaction at a time, with its queries. They refuse to run outside of a transaction. */
export class Member<Q> {
  readonly queries: Q
  readonly link: Link
  readonly timeline: string
  isInTransaction = false
  /** The first error of a statement of the transaction under way, also if its body has caught it. */
  failure: { readonly error: unknown } | null = null

  constructor({ link, timeline }: PrimaryLink, createQueries: (wire: Wire) => Q) {
    this.link = link
    this.timeline = timeline
    this.queries = createQueries({ writes: true, send: async (text, values) => await this.#send(text, values) })
  }

  async #send(text: string, values: readonly unknown[]) {
    if (!this.isInTransaction) throw new Error('A query was used outside of its transaction.')
    try {
      return await this.link.send(text, values)
    } catch (error) {
      this.failure ??= { error }
      throw error
    }
  }
}

/** So many connections, opened when they are needed. Who comes first gets the next free one. */
export class Pool<Q> {
  #idle: Member<Q>[] = []
  readonly #busy = new Set<Member<Q>>()
  #free: number
  #waiting: (() => void)[] = []

  constructor(
    size: number,
    /** Whether transactions wait as long as it takes. */
    private readonly isPatient: boolean,
    private readonly connect: () => Promise<Member<Q>>,
  ) {
    this.#free = size
  }

  /** How many transactions wait for a connection. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** @throws unavailable if none becomes free in time, and what `connect` throws */
  async use<T>(work: (member: Member<Q>) => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait()
    try {
      const member = this.#takeIdle() ?? (await this.connect())
      this.#busy.add(member)
      try {
        return await work(member)
      } finally {
        this.#busy.delete(member)
        if (member.link.isOpen) this.#idle.push(member)
      }
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }

  /** Closes connections whose server has not answered for so long, in milliseconds. */
  closeStuck(longestMs: number): void {
    const now = performance.now()
    for (const { link } of this.#busy) if (link.waitingMs(now) > longestMs) link.close()
  }

  close(): void {
    for (const { link } of this.#idle.splice(0)) link.close()
  }

  #takeIdle(): Member<Q> | undefined {
    this.#idle = this.#idle.filter(({ link }) => link.isOpen)
    return this.#idle.pop()
  }

  async #wait(): Promise<void> {
    if (this.#waiting.length >= longestQueue) throw unavailable(1)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    if (this.isPatient) return await promise
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((each) => each !== resolve)
      reject(unavailable(1))
    }, longestWaitMs)
    await promise.finally(() => clearTimeout(timer))
  }
}
