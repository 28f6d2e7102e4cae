/**
 * The heartbeat of a node: once a second it commits that it is there. A primary that was deposed by a promoted standby cannot
 * commit, because its synchronous standby does not follow it any more. So what a node reads is up to date as long as its
 * heartbeats succeed, and reads are refused when none has for two seconds.
 */
import { DatabaseUnusable } from '../database.ts'
import { unavailable } from './fault.ts'
import type { Link } from './link.ts'
import type { Primary } from './primary.ts'

const beatMs = 1_000
/** How old the last heartbeat may be for a read. `Timelines` waits for longer before it lets a promoted primary be trusted. */
const freshMs = 2_000
/** How long a heartbeat may take until its connection is given up. */
const longestBeatMs = 4_000
/** After how long without a heartbeat another node may take the number. */
const abandonedMs = 60_000
/** How long the work of one node stays with it, from a heartbeat on. */
const leaseMs = 5_000

/** Measuring the size of a database looks at every file of it. */
const beatsPerSize = 60

/** The clock of PostgreSQL in epoch milliseconds. */
export const databaseNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Takes the lowest number that no living node has. */
const takeNumberText = `INSERT INTO nodes (number, holder, beat_at)
  SELECT free, $1, ${databaseNow} FROM generate_series(0, 31) AS free
  WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE number = free AND beat_at > ${databaseNow} - ${abandonedMs})
  ORDER BY free LIMIT 1
  ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, beat_at = excluded.beat_at
  WHERE nodes.beat_at <= ${databaseNow} - ${abandonedMs}
  RETURNING number`

export type PulseOptions = {
  /** Called once, when another node has taken this one's number: it was stopped for too long. */
  readonly lost: () => void
}

export class Pulse {
  #link: Link | null = null
  #beatAt = Number.NEGATIVE_INFINITY
  #leadsUntil = Number.NEGATIVE_INFINITY
  #time = 0
  #offsetMs = 0
  #databaseBytes = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  #beating: Promise<void> | null = null
  #beats = 0
  #closed = false

  private constructor(
    private readonly primary: Primary,
    private readonly holder: string,
    readonly node: number,
    private readonly options: PulseOptions,
  ) {}

  /** Takes a number and the first heartbeat. @throws DatabaseUnusable if 32 nodes are there */
  static async start(primary: Primary, options: PulseOptions): Promise<Pulse> {
    const holder = crypto.randomUUID()
    const node = await takeNumber(primary, holder)
    const pulse = new Pulse(primary, holder, node, options)
    await pulse.#beat()
    pulse.#again()
    return pulse
  }

  /** Waits for a heartbeat if the last one is too old. @throws unavailable if what the server shows may be out of date */
  async refresh(): Promise<void> {
    if (!this.isFresh) await (this.#beating ?? this.#beat())
    if (!this.isFresh) throw unavailable(1)
  }

  get isFresh(): boolean {
    return performance.now() - this.#beatAt <= freshMs
  }

  /** Whether the work that one node does for all is this one's now. */
  get leads(): boolean {
    return performance.now() < this.#leadsUntil
  }

  /** How far the clock of PostgreSQL is ahead of this machine's, in milliseconds, to about the duration of a heartbeat. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  get databaseBytes(): number {
    return this.#databaseBytes
  }

  /** The next heartbeat keeps the time, unless it is ahead of the clock of PostgreSQL, which bounds it. */
  keepTime(at: number): void {
    this.#time = Math.max(this.#time, Math.floor(at))
  }

  /** The last heartbeat, which gives number and work to others. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const link = this.#link
    if (link === null || !link.isOpen) return
    try {
      await link.sendAll(
        `${this.#keepTimeText()}; DELETE FROM leases WHERE holder = '${this.holder}'; DELETE FROM nodes WHERE holder = '${this.holder}'`,
      )
    } catch {
      // The number is free after a minute without heartbeats.
    }
    link.close()
  }

  #again(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => void (this.#beating ?? this.#beat()).finally(() => this.#again()), beatMs)
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    this.#beating = this.#beatOnce().finally(() => (this.#beating = null))
    await this.#beating
  }

  async #beatOnce(): Promise<void> {
    const startedAt = performance.now()
    const giveUp = setTimeout(() => this.#link?.close(), longestBeatMs)
    try {
      if (this.#link?.isOpen !== true) this.#link = (await this.primary.connect({}, { search: true })).link
      const answers = await this.#link.sendAll(this.#text())
      const wallAt = Date.now()
      if (answers[0]?.changes === 0) return this.options.lost()
      this.#beatAt = startedAt
      if (answers[1]?.changes === 1) this.#leadsUntil = startedAt + leaseMs
      const [now, bytes] = answers[3]?.rows[0] ?? []
      this.#offsetMs = Number(now) - wallAt
      this.#databaseBytes = Number(bytes ?? this.#databaseBytes)
    } catch {
      // Reads are refused while no heartbeat succeeds; `health` tells.
    } finally {
      clearTimeout(giveUp)
    }
  }

  /** One message, hence one transaction. The values are numbers and an ID of ours. */
  #text(): string {
    return [
      `UPDATE nodes SET beat_at = ${databaseNow} WHERE number = ${this.node} AND holder = '${this.holder}'`,
      `INSERT INTO leases (name, holder, held_until) VALUES ('jobs', '${this.holder}', ${databaseNow} + ${leaseMs})
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
        WHERE leases.holder = excluded.holder OR leases.held_until < ${databaseNow}`,
      this.#keepTimeText(),
      `SELECT ${databaseNow}, ${this.#beats++ % beatsPerSize === 0 ? 'pg_database_size(current_database())' : 'NULL'}`,
    ].join('; ')
  }

  #keepTimeText(): string {
    return `INSERT INTO watermarks (name, at) SELECT 'clock', least(${this.#time}, ${databaseNow}) WHERE ${this.#time} > 0
      ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE watermarks.at < excluded.at`
  }
}

const takeNumber = async (primary: Primary, holder: string): Promise<number> => {
  const { link } = await primary.connect()
  try {
    // Two nodes that start together may look for the same number.
    for (let attempt = 0; attempt < 32; attempt += 1) {
      const [row] = (await link.send(takeNumberText, [holder])).rows
      if (row !== undefined) return Number(row[0])
      await Bun.sleep(Math.random() * 50)
    }
  } finally {
    link.close()
  }
  throw new DatabaseUnusable('in_use', 'As many as 32 servers share this PostgreSQL database: no more are possible.')
}
