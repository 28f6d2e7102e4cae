/**
 * The heartbeat of a node: once a second it commits that it is there. A primary that was deposed by a promoted standby cannot
 * commit, because its synchronous standby does not follow it any more. So what a node reads is up to date as long as its
 * heartbeats succeed, and reads are refused when none has for two seconds.
 */
import type { NodeFacts, NodeState, Sharing } from '../database.ts'
import { databaseNow } from './dialect.ts'
import { unavailable } from './fault.ts'
import type { Link } from './link.ts'
import { giveBackText, hasAbandoned, nodeOf, nodesText, silenceMs, takeNumber } from './nodes.ts'
import type { Primary } from './primary.ts'
import type { Timelines } from './timelines.ts'

const beatMs = 1_000
/** After one that failed: the sooner a promoted primary is found, the shorter writes are refused. */
const retryMs = 250
/** How old the last heartbeat may be for a read. `Timelines` waits for longer before it lets a promoted primary be trusted. */
const freshMs = 2_000
/** How long a heartbeat may take until its connection is given up. A read waits for the one that is under way. */
const longestBeatMs = 2_500
/** How long the work of one node stays with it, from a heartbeat on. */
const leaseMs = 5_000

/** A node whose clock is further from that of PostgreSQL issues and purges nothing. */
const toleratedClockMs = 30_000

/** How long after the start a silent server of this machine is one that was killed before: its heartbeats may be a moment old. */
const lookBackMs = silenceMs + 3_000

/** Measuring the size of a database looks at every file of it. */
const beatsPerSize = 60

type PulseOptions = {
  readonly facts: NodeFacts
  /** Called once the number is taken, before the first heartbeat. */
  readonly confirm: (link: Link) => Promise<void>
  /** Called when another node has taken this one's number: it was stopped for too long. */
  readonly replaced: () => void
  /** Called once when a server of this machine has not ended properly before this one started. */
  readonly uncleanEnd: () => void
  /** Called when a node has noticed that the primary lacks acknowledged changes. */
  readonly missing: () => void
}

/** The names of the standbys that follow the primary. A base backup is none. */
const connectedText = `SELECT string_agg(application_name, ',') FROM pg_stat_replication
  WHERE application_name IS DISTINCT FROM 'pg_basebackup' AND current_setting('synchronous_standby_names') <> ''`

const namesIn = (list: string): readonly string[] =>
  list.split(',').map((name) =>
    name
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase(),
  )

/**
 * Whether there are more standbys than a commit waits for, by `synchronous_standby_names`. Then a deposed primary that still runs
 * can go on with one that was not promoted, and its heartbeats succeed. Several standbys may have one name.
 */
const hasSpare = (setting: string, connected: string): boolean => {
  const [, count = '1', list = setting] = /^\s*(?:FIRST\s|ANY\s)?\s*(\d+)\s*\((.*)\)\s*$/i.exec(setting) ?? []
  const listed = namesIn(list)
  const isAny = listed.includes('*')
  const following = namesIn(connected).filter((name) => isAny || listed.includes(name))
  return Math.max(following.length, isAny ? 0 : listed.length) > Number(count)
}

export class Pulse {
  #link: Link | null = null
  #beatAt = Number.NEGATIVE_INFINITY
  #begunAt = Number.NEGATIVE_INFINITY
  /** The history that the last heartbeat was written to. */
  #timeline = ''
  #leadsUntil = Number.NEGATIVE_INFINITY
  #time = 0
  #nodes: readonly NodeState[] = []
  #hasSynchronousStandby = false
  #hasSpareStandby = false
  /** How far this machine's clock is ahead of that of PostgreSQL, at least; negative: behind. */
  #clockOffsetMs = 0
  #databaseTime = 0
  #measuredAt = 0
  #databaseBytes = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  #beating: Promise<void> | null = null
  #beats = 0
  #closed = false
  #mayTellUncleanEnd = true
  readonly #startedAt = performance.now()

  private constructor(
    private readonly primary: Primary,
    private readonly timelines: Timelines,
    private readonly holder: string,
    readonly node: number,
    private readonly options: PulseOptions,
  ) {}

  /** Takes a number and the first heartbeat. @throws DatabaseUnusable if 32 nodes are there, and what `confirm` throws */
  static async start(primary: Primary, timelines: Timelines, options: PulseOptions): Promise<Pulse> {
    const holder = crypto.randomUUID()
    const { link } = await primary.connect()
    try {
      const wasAbandoned = await hasAbandoned(link, options.facts)
      const pulse = new Pulse(primary, timelines, holder, await takeNumber(link, holder, options.facts), options)
      await options.confirm(link).catch(async (error: unknown) => {
        await link.send('DELETE FROM nodes WHERE holder = $1', [holder])
        throw error
      })
      if (wasAbandoned) pulse.#tellUncleanEnd()
      await pulse.#beat()
      pulse.#again()
      return pulse
    } finally {
      link.close()
    }
  }

  /** Waits a moment for a heartbeat if the last one is too old. @throws unavailable if what the server shows may be out of date */
  async refresh(): Promise<void> {
    if (!this.isFresh) {
      const beating = this.#beating ?? this.#beat()
      await Promise.race([beating, Bun.sleep(Math.max(0, this.#begunAt + longestBeatMs - performance.now()))])
    }
    if (!this.isFresh) throw unavailable(1)
  }

  /** A primary that was promoted since the last heartbeat may lack what was acknowledged. */
  get isFresh(): boolean {
    return performance.now() - this.#beatAt <= freshMs && this.primary.timeline === this.#timeline
  }

  /** Whether the work that one node does for all is this one's now. */
  get leads(): boolean {
    return performance.now() < this.#leadsUntil && !this.clockIsWrong
  }

  get clockIsWrong(): boolean {
    return Math.abs(this.#clockOffsetMs) > toleratedClockMs
  }

  get time(): number {
    return Math.floor(this.#databaseTime + performance.now() - this.#measuredAt)
  }

  get sharing(): Pick<Sharing, 'nodes' | 'clockOffsetMs' | 'hasSynchronousStandby' | 'hasSpareStandby'> {
    return {
      nodes: this.#nodes,
      clockOffsetMs: this.#clockOffsetMs,
      hasSynchronousStandby: this.#hasSynchronousStandby,
      hasSpareStandby: this.#hasSpareStandby,
    }
  }

  get databaseBytes(): number {
    return this.#databaseBytes
  }

  /** The next heartbeat keeps the time, unless it is ahead of the clock of PostgreSQL, which bounds it. */
  keepTime(at: number): void {
    this.#time = Math.max(this.#time, Math.floor(at))
  }

  /** No heartbeat follows, and reads are refused. */
  stop(): void {
    this.#closed = true
    this.#beatAt = Number.NEGATIVE_INFINITY
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  /** The last heartbeat, which gives number and work to others. */
  async close(): Promise<void> {
    this.stop()
    const link = this.#link
    if (link === null || !link.isOpen) return
    try {
      await link.sendAll(
        `${this.#keepTimeText()}; DELETE FROM leases WHERE holder = '${this.holder}'; ${giveBackText(this.holder)}`,
      )
    } catch {
      // The number is free after a minute without heartbeats.
    }
    link.close()
  }

  #again(): void {
    if (this.#closed) return
    this.#timer = setTimeout(
      () => void (this.#beating ?? this.#beat()).finally(() => this.#again()),
      this.isFresh ? beatMs : retryMs,
    )
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    this.#beating = this.#beatOnce().finally(() => (this.#beating = null))
    await this.#beating
  }

  async #beatOnce(): Promise<void> {
    if (this.#closed) return
    const startedAt = (this.#begunAt = performance.now())
    const giveUp = setTimeout(() => this.#link?.close(), longestBeatMs)
    try {
      const link = this.#link?.isOpen === true ? this.#link : await this.#connect()
      if (this.#closed) return // `close` ends this connection
      const [timeline, wallBefore] = [this.primary.timeline, Date.now()]
      const [beat, lease, , facts, nodes] = await link.sendAll(this.#text())
      if (beat?.changes === 0) return this.options.replaced()
      const [now, standbys, connected, lostAt, bytes] = facts?.rows[0] ?? []
      if (lostAt !== null) return this.options.missing()
      this.#measure(Number(now), wallBefore)
      this.#databaseBytes = Number(bytes ?? this.#databaseBytes)
      this.#hasSynchronousStandby = standbys !== ''
      this.#hasSpareStandby = hasSpare(String(standbys), String(connected ?? ''))
      this.#nodes = nodes?.rows.map((row) => nodeOf(row, this.options.facts.settings)) ?? []
      this.#lookForUncleanEnd()
      if (this.#closed) return
      if (lease?.changes === 1) this.#leadsUntil = startedAt + leaseMs
      this.#timeline = timeline
      this.#beatAt = startedAt
    } catch {
      // Reads are refused while no heartbeat succeeds; `health` tells.
    } finally {
      clearTimeout(giveUp)
    }
  }

  /** A server that was killed a moment before this one started looked alive then. */
  #lookForUncleanEnd(): void {
    const { name } = this.options.facts
    if (!this.#mayTellUncleanEnd || performance.now() - this.#startedAt > lookBackMs || name === '') return
    const isSilent = (node: NodeState) => node.name === name && node.number !== this.node && node.silentMs > silenceMs
    if (this.#nodes.some(isSilent)) this.#tellUncleanEnd()
  }

  #tellUncleanEnd(): void {
    this.#mayTellUncleanEnd = false
    this.options.uncleanEnd()
  }

  async #connect(): Promise<Link> {
    const { link, timeline } = await this.primary.connect({}, { search: true })
    if (this.#closed) {
      link.close()
      throw unavailable(1)
    }
    this.#link = link // so that it is given up if it hangs
    try {
      await this.timelines.meet(link, timeline)
      // Changes may be missing that only another node has acknowledged: it needs time to notice, before this one shows anything.
      if (!this.#hasSynchronousStandby) await this.timelines.settled()
    } catch (error) {
      link.close()
      throw error
    }
    return link
  }

  /** The server answered between then and now. So much of the difference as that does not explain is the clock's. */
  #measure(now: number, wallBefore: number): void {
    const wallAfter = Date.now()
    this.#databaseTime = now
    this.#measuredAt = performance.now()
    this.#clockOffsetMs = now < wallBefore ? wallBefore - now : Math.min(0, wallAfter - now)
  }

  /** One message, hence one transaction. The values are numbers and an ID of ours. */
  #text(): string {
    return [
      `UPDATE nodes SET beat_at = ${databaseNow}, clock_offset_ms = ${this.#measuredAt === 0 ? 'NULL' : this.#clockOffsetMs}
        WHERE number = ${this.node} AND holder = '${this.holder}'`,
      `INSERT INTO leases (name, holder, held_until) SELECT 'jobs', '${this.holder}', ${databaseNow} + ${leaseMs}
        WHERE ${!this.clockIsWrong} ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
        WHERE leases.holder = excluded.holder OR leases.held_until NOT BETWEEN ${databaseNow} AND ${databaseNow} + ${leaseMs}`,
      this.#keepTimeText(),
      `SELECT ${databaseNow}, current_setting('synchronous_standby_names'),
        (${connectedText}), (SELECT max(lost_at) FROM timelines),
        ${this.#beats++ % beatsPerSize === 0 ? 'pg_database_size(current_database())' : 'NULL'}`,
      nodesText,
    ].join('; ')
  }

  #keepTimeText(): string {
    return `INSERT INTO watermarks (name, at) SELECT 'clock', least(${this.#time}, ${databaseNow}) WHERE ${this.#time} > 0
      ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE watermarks.at < excluded.at`
  }
}
