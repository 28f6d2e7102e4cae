import type { Selection, Sent, Wire } from './dialect.ts'
import { isOfValues, postgresFault, unavailable } from './fault.ts'
import type { Link } from './link.ts'
import { listOf, listsOf, Rounds } from './rounds.ts'

/** A connection with so many statements under way takes more only if no other one can. */
const fullAt = 8
/** The same for one that has not answered for so long: a slow statement must not hold up those behind it. */
const slowMs = 5

/** What tells whether the server shows the latest commits. */
export type Freshness = { readonly isFresh: boolean; refresh(): Promise<void> }

/**
 * Whether what this connection has just shown was up to date. If the heartbeat that is waited for finds another primary, it came
 * from a deposed one. @throws unavailable if nobody can tell
 */
export const isLatest = async (link: Link, pulse: Freshness): Promise<boolean> => {
  if (pulse.isFresh) return true
  await pulse.refresh()
  return link.isOpen
}

/** What is asked for by one select, by the values of each call. */
type Asked = Map<unknown, Call>
type Call = {
  readonly values: unknown[]
  readonly rows: unknown[][]
  readonly sent: Promise<Sent>
  resolve(sent: Sent): void
  reject(error: unknown): void
}

/**
 * The connections for plain reads. Each carries many statements at once. A statement whose connection is lost is sent once more
 * over another one, since it has changed nothing.
 *
 * What one of the hot selects asks for in one turn of the event loop is read by one statement: for 16 keys it costs 1.6 µs each, and
 * 16 statements, also sent together, 10 (measured).
 */
export class Readers implements Wire {
  readonly #links: (Link | null)[]
  readonly #opening: (Promise<Link> | null)[]
  #asked = new Map<string, Asked>()
  readonly #rounds = new Rounds(() => this.#ask())
  #isClosed = false

  constructor(
    size: number,
    private readonly connect: () => Promise<Link>,
    private readonly pulse: Freshness,
  ) {
    this.#links = Array.from({ length: size }, () => null)
    this.#opening = Array.from({ length: size }, () => null)
  }

  /** @throws unavailable if no server answers */
  async send(text: string, values: unknown[]): Promise<Sent> {
    let cause: unknown
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (!this.pulse.isFresh) await this.pulse.refresh()
      try {
        const link = this.#ready() ?? (await this.#opened())
        const sent = await link.send(text, values)
        if (this.pulse.isFresh || (await isLatest(link, this.pulse))) return sent
      } catch (error) {
        const fault = postgresFault(error)
        if (fault === 'refused') throw unavailable(1, error)
        if (fault !== 'lost') throw error
        cause = error
      }
    }
    throw unavailable(1, cause)
  }

  /** Callers that ask for the same share the answer, which they must not change. */
  read(selection: Selection, values: unknown[]): Promise<Sent> {
    if (selection.together === null) return this.send(selection.text, values)
    const asked = this.#askedBy(selection.together)
    const name = values.length === 1 ? values[0] : listOf(values)
    const known = asked.get(name)
    if (known !== undefined) return known.sent
    const { promise, resolve, reject } = Promise.withResolvers<Sent>()
    asked.set(name, { values, rows: [], sent: promise, resolve, reject })
    return promise
  }

  #askedBy(text: string): Asked {
    this.#rounds.ask()
    const known = this.#asked.get(text)
    if (known !== undefined) return known
    const asked: Asked = new Map()
    this.#asked.set(text, asked)
    return asked
  }

  #ask(): Promise<unknown> | null {
    if (this.#asked.size === 0) return null
    const all = this.#asked
    this.#asked = new Map()
    return Promise.all([...all].map(async ([text, asked]) => await this.#askFor(text, asked)))
  }

  async #askFor(text: string, asked: Asked): Promise<void> {
    try {
      const calls = [...asked.values()]
      const { rows } = await this.send(text, listsOf(calls.map(({ values }) => values)))
      for (const row of rows) calls[Number(row.pop()) - 1]?.rows.push(row) // a row is found for one call after the other
      for (const { rows, resolve } of calls) resolve({ rows, changes: 0 })
    } catch (error) {
      if (asked.size > 1 && isOfValues(error)) for (const one of asked) void this.#askFor(text, new Map([one]))
      else for (const { reject } of asked.values()) reject(error)
    }
  }

  /** Opens the first connection. */
  async open(): Promise<void> {
    await this.#opened()
  }

  push(): never {
    throw new Error('Only a transaction may write.')
  }

  insert(): never {
    return this.push()
  }

  change(): never {
    return this.push()
  }

  /** A connection for what a transaction reads before it locks or changes anything; null if none is open or may be trusted. */
  forTransaction(): Link | null {
    if (!this.pulse.isFresh) return null
    const link = this.#ready()
    if (link === null) this.#opened().catch(() => undefined)
    return link
  }

  /** Closes connections whose server has not answered for so long, in milliseconds. */
  closeStuck(longestMs: number): void {
    this.#rounds.begin()
    const now = performance.now()
    for (const link of this.#links) if (link !== null && link.waitingMs(now) > longestMs) link.close()
  }

  get hasConnection(): boolean {
    return this.#links.some((link) => link?.isOpen === true)
  }

  /** Refuses everything from now on. */
  close(): void {
    this.#isClosed = true
    for (const link of this.#links) link?.close()
  }

  /**
   * The first connection that is not full and answers; null if none is open. Statements that are sent together over few
   * connections cost less than over many. If none has room, another one is opened, and the others go on meanwhile.
   */
  #ready(): Link | null {
    const now = performance.now()
    let best: Link | null = null
    let areMissing = false
    for (const link of this.#links) {
      if (link === null || !link.isOpen) areMissing = true
      else if (link.underWay < fullAt && link.waitingMs(now) < slowMs) return link
      else if (best === null || link.underWay < best.underWay) best = link
    }
    if (areMissing && best !== null) this.#opened().catch(() => undefined)
    return best
  }

  async #opened(): Promise<Link> {
    const free = this.#links.findIndex((link) => link === null || !link.isOpen)
    return await (this.#opening[free] ??= this.#open(free))
  }

  async #open(index: number): Promise<Link> {
    try {
      if (this.#isClosed) throw new Error('The store is closed.')
      const link = await this.connect()
      this.#links[index] = link
      if (this.#isClosed) link.close()
      return link
    } finally {
      this.#opening[index] = null
    }
  }
}
