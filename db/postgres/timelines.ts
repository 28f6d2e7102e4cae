import { databaseNow } from './dialect.ts'
import { sqlState } from './fault.ts'
import type { Link } from './link.ts'

/** A promoted primary is not trusted for so long: longer than any node still reads from the deposed one (`pulse.ts`). */
const quietMs = 3_000
/** How long a new connection may take to note the timeline of its server. */
const longestMeetingMs = 2_000
/** How many of the last acknowledged transactions a promoted primary must have. */
const mostNoted = 100

/**
 * The timelines of the primary that this node has met. A promoted standby begins another one. For its first three seconds nothing
 * is acknowledged: until then another node may still read from the deposed primary, and would not see a revocation.
 *
 * If the promoted primary lacks a transaction that this node has acknowledged, it is marked in the database, so that every node
 * stops, and none starts, until the operator has ended what was issued (`recover.ts`).
 */
export class Timelines {
  #known: string | null = null
  #quietUntil = 0
  #noted: string[] = []
  #next = 0

  /** `missing` is called when a promoted primary lacks a transaction that this node has acknowledged. */
  constructor(private readonly missing: () => void) {}

  /** Call it with each new connection that writes, before it is used. If it throws, the connection is closed. */
  async meet(link: Link, timeline: string): Promise<void> {
    if (timeline === this.#known) return
    try {
      await link.within(longestMeetingMs, async () => await this.#meet(link, timeline))
    } catch (error) {
      link.close()
      throw error
    }
  }

  async #meet(link: Link, timeline: string): Promise<void> {
    // Of several connections at once, the first one is used on the new timeline while the others are still here.
    const noted = [...this.#noted]
    await link.sendAll(timelineText(timeline))
    const text = `SELECT ${databaseNow} - met_at, first_transaction FROM timelines WHERE name = $1`
    const [ageMs, first] = (await link.send(text, [timeline])).rows[0] ?? []
    this.#quietUntil = performance.now() + Math.max(0, quietMs - Math.max(0, Number(ageMs)))
    if (this.#known !== null && !(await hasAll(link, noted, Number(first ?? Number.POSITIVE_INFINITY)))) {
      await link.send(`UPDATE timelines SET lost_at = ${databaseNow} WHERE name = $1 AND lost_at IS NULL`, [timeline])
      this.missing()
    }
    this.#known = timeline
  }

  get isSettled(): boolean {
    return performance.now() >= this.#quietUntil
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
}

/**
 * Notes a timeline with a lower bound of the IDs that are given on it: no transaction that was promoted with it has such a high one.
 * It must come before everything that takes an ID. The name is that of PostgreSQL, eight hexadecimal digits.
 */
export const timelineText = (name: string): string =>
  `INSERT INTO timelines (name, met_at, first_transaction)
    VALUES ('${name}', ${databaseNow}, pg_snapshot_xmin(pg_current_snapshot())::text::bigint) ON CONFLICT DO NOTHING`

/** A promoted primary gives the IDs that it has never seen again, from the first one that a node used on its timeline. */
const hasAll = async (link: Link, noted: readonly string[], first: number): Promise<boolean> => {
  try {
    for (const id of noted) {
      if (Number(id) >= first) return false
      const [[status] = []] = (await link.send('SELECT pg_xact_status($1::text::xid8)', [id])).rows
      if (status === 'aborted') return false
    }
    return true
  } catch (error) {
    if (sqlState(error) === '22023') return false // the primary has never seen the ID
    throw error
  }
}
