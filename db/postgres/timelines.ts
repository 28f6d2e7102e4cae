import { sqlState } from './fault.ts'
import type { Link } from './link.ts'
import { databaseNow } from './pulse.ts'

/** A promoted primary is not trusted for so long: longer than any node still reads from the deposed one (`pulse.ts`). */
const quietMs = 3_000
/** How many of the last acknowledged transactions a promoted primary must have. */
const mostNoted = 100

/**
 * The timelines of the primary that this node has met. A promoted standby begins another one. For its first three seconds nothing
 * is acknowledged: until then another node may still read from the deposed primary, and would not see a revocation.
 */
export class Timelines {
  #known: string | null = null
  #quietUntil = 0
  #noted: string[] = []
  #next = 0

  /** `missing` is called when a promoted primary lacks a transaction that this node has acknowledged. */
  constructor(private readonly missing: () => void) {}

  /** Call it with each new connection that writes, before it is used. */
  async meet(link: Link, timeline: string): Promise<void> {
    if (timeline === this.#known) return
    const text = `WITH met AS (INSERT INTO timelines (name, met_at) VALUES ($1, ${databaseNow}) ON CONFLICT DO NOTHING)
      SELECT ${databaseNow} - (SELECT met_at FROM timelines WHERE name = $1)`
    const ageMs = (await link.send(text, [timeline])).rows[0]?.[0] ?? 0
    this.#quietUntil = performance.now() + Math.max(0, quietMs - Number(ageMs))
    if (this.#known !== null && !(await this.#hasAll(link))) this.missing()
    this.#known = timeline
  }

  /** Waits until answers of this primary may be acknowledged. */
  async settled(): Promise<void> {
    const waitMs = this.#quietUntil - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
  }

  /** Notes the ID of a transaction that is about to be acknowledged. */
  note(id: string): void {
    this.#noted[this.#next] = id
    this.#next = (this.#next + 1) % mostNoted
  }

  async #hasAll(link: Link): Promise<boolean> {
    try {
      for (const id of this.#noted) {
        const [[status] = []] = (await link.send('SELECT pg_xact_status($1::text::xid8)', [id])).rows
        if (status === 'aborted') return false
      }
      return true
    } catch (error) {
      if (sqlState(error) === '22023') return false // the primary has never seen the ID
      throw error
    }
  }
}
