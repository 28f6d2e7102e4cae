import type { Sent, Wire } from './dialect.ts'
import { ConnectionLost, postgresFault, unavailable } from './fault.ts'
import type { Link } from './link.ts'

/**
 * The connections for plain reads. Each carries many statements at once, and a statement goes to the one with the fewest. A
 * statement whose connection is lost is sent once more over another one, since it has changed nothing.
 */
export class Readers implements Wire {
  readonly writes = false
  readonly #links: (Link | null)[]
  readonly #opening: (Promise<Link> | null)[]

  constructor(
    size: number,
    private readonly connect: () => Promise<Link>,
    /** What tells whether the server shows the latest commits. */
    private readonly pulse: { readonly isFresh: boolean; refresh(): Promise<void> },
  ) {
    this.#links = Array.from({ length: size }, () => null)
    this.#opening = Array.from({ length: size }, () => null)
  }

  /** @throws unavailable if no server answers */
  async send(text: string, values: readonly unknown[]): Promise<Sent> {
    if (!this.pulse.isFresh) await this.pulse.refresh()
    return await this.#try(text, values).catch(async (error: unknown) => {
      if (postgresFault(error) !== 'lost') throw error
      return await this.#try(text, values)
    })
  }

  /** Closes connections whose server has not answered for so long, in milliseconds. */
  closeStuck(longestMs: number): void {
    const now = performance.now()
    for (const link of this.#links) if (link !== null && link.waitingMs(now) > longestMs) link.close()
  }

  close(): void {
    for (const link of this.#links) link?.close()
  }

  async #try(text: string, values: readonly unknown[]): Promise<Sent> {
    try {
      const link = await this.#leastBusy()
      const sent = await link.send(text, values)
      if (this.pulse.isFresh) return sent
      await this.pulse.refresh()
      // If that heartbeat found another primary, this answer came from a deposed one.
      if (!link.isOpen) throw new ConnectionLost()
      return sent
    } catch (error) {
      if (postgresFault(error) === 'refused') throw unavailable(1)
      throw error
    }
  }

  /** A connection is opened when all others are in use. */
  async #leastBusy(): Promise<Link> {
    let best: Link | null = null
    let free = -1
    for (const [index, link] of this.#links.entries()) {
      if (link === null || !link.isOpen) free = index
      else if (best === null || link.underWay < best.underWay) best = link
    }
    if (best !== null && (free === -1 || best.underWay === 0)) return best
    const opening = (this.#opening[free] ??= this.#open(free))
    return best ?? (await opening) // the others go on while one is opened
  }

  async #open(index: number): Promise<Link> {
    try {
      return (this.#links[index] = await this.connect())
    } finally {
      this.#opening[index] = null
    }
  }
}
