import { type Address, type Host, placeOf } from './address.ts'
import {
  hasNoRoom,
  isOfLogin,
  lastsMs,
  NoPrimary,
  postgresFault,
  sqlState,
  Unanswered,
  unavailable,
  Unconfirmed,
} from './fault.ts'
import { Link } from './link.ts'
import { timelineText } from './timelines.ts'

/** A connection to the primary, and the history that the primary writes: a promoted standby begins another timeline. */
export type PrimaryLink = { readonly link: Link; readonly timeline: string }

/** After no server was found, how long every further attempt fails at once, in milliseconds. */
const restMs = 100
/** How long a new connection waits for the answers of its server, and for the standby of that, in milliseconds. */
const longestSettlingMs = 2_000
/** How long before its end it is asked what the connection waits for. */
const askedBeforeMs = 500
/** How long a search waits for the other servers once it has found a primary, or a standby, in milliseconds. */
const longestSearchMs = { primary: 500, standby: 2_000 } as const

type Refusal = { readonly host: Host; readonly error: unknown }

const roleText = `SELECT pg_is_in_recovery(),
  CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END,
  to_regclass('timelines') IS NOT NULL, pg_backend_pid()`

const waitText = "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int AND wait_event = 'SyncRep'"

/**
 * Finds the one of the servers that takes writes. Standbys are never used, because they lag behind. When a standby has been
 * promoted, all connections to the deposed primary are closed, and it is not used again.
 */
export class Primary {
  #hosts: readonly Host[]
  #failedAt = Number.NEGATIVE_INFINITY
  #refusal: Refusal | null = null
  #refused: { readonly error: unknown; readonly at: number } | null = null
  #timeline = ''
  #notedTimeline = ''
  #links: Link[] = []

  #address: Address

  constructor(address: Address) {
    this.#address = address
    this.#hosts = address.hosts
  }

  /**
   * Logs in with another password from now on, unless a server refuses it. Servers that do not answer are no reason against it: they may
   * come back with it. @throws what the server says that refuses it
   */
  async renewPassword(password: string): Promise<void> {
    const renewed = { ...this.#address, password }
    const trial = await new Primary(renewed).connect().catch((error: unknown) => {
      if (isOfLogin(error)) throw error
      return null
    })
    trial?.link.close()
    this.#address = renewed
  }

  /** Whether this address differs from the one in use in nothing but the password. */
  isBesidePassword(address: Address): boolean {
    return JSON.stringify({ ...address, password: '' }) === JSON.stringify({ ...this.#address, password: '' })
  }

  /** Why the last connection could not be opened; null if one was opened since. */
  get failure(): unknown {
    return this.#refusal?.error ?? null
  }

  /** Why PostgreSQL did not write when it was met last; null if it has written since, as far as is known. */
  get refused(): unknown {
    return this.#refused?.error ?? null
  }

  readonly #noteRefused = (error: unknown): void => {
    if (lastsMs(error) !== null) this.#refused = { error, at: performance.now() }
  }

  /**
   * Tries whether PostgreSQL writes again, if it did not: with so much as many transactions need, in a session of its own, because one
   * that is open can keep what was set for its role or database. Nothing of it stays.
   */
  async tryToWrite(): Promise<void> {
    const { link } = await this.connect()
    const refused = this.#refused
    try {
      if (refused === null) return
      await link
        .within(longestSettlingMs, async () => await link.sendAll(trialText))
        .catch((error: unknown) => {
          if (postgresFault(error) !== 'statement' || lastsMs(error) !== null) throw error // else it may not try this
        })
      const isOld = performance.now() - refused.at >= (lastsMs(refused.error) ?? 0)
      if (this.#refused === refused && isOld) this.#refused = null
    } finally {
      link.close()
    }
  }

  /** The server that did not let it in last, or else the one that was the primary last, and its database. */
  get place(): string {
    const host = this.#refusal?.host ?? this.#hosts[0]
    return host === undefined ? this.places : placeOf(this.#address, host)
  }

  /** All servers of the URL, and their database. */
  get places(): string {
    return placeOf(this.#address, ...this.#address.hosts)
  }

  get hostCount(): number {
    return this.#address.hosts.length
  }

  /** The latest history that a primary was met with. */
  get timeline(): string {
    return this.#timeline
  }

  /**
   * Connects to the server that was the primary last. `search` asks all of them, as after a start or a failed heartbeat: a deposed
   * primary that still runs says that it is one.
   * @throws unavailable if no server is the primary; what the server says if it refuses the login
   */
  async connect(
    settings: Readonly<Record<string, string>> = {},
    { search = this.#timeline === '' } = {},
  ): Promise<PrimaryLink> {
    if (performance.now() - this.#failedAt < restMs)
      throw hasNoRoom(this.failure) ? this.failure : noPrimary(this.failure)
    const refusals: Refusal[] = []
    const found = search ? await this.#latest(settings, refusals) : await this.#first(settings, refusals)
    if (found !== null) {
      this.#refusal = null
      this.#failedAt = Number.NEGATIVE_INFINITY
      this.#prefer(found.link.host)
      return found
    }
    this.#failedAt = performance.now()
    // Of several, the one that says most: a server that answers, before one that is not there.
    this.#refusal =
      refusals.find(({ error }) => error instanceof Unconfirmed) ??
      refusals.find(({ error }) => sqlState(error) !== null) ??
      refusals[0] ??
      null
    throw this.#refusal === null ? noPrimary() : this.#refusal.error
  }

  async #first(settings: Readonly<Record<string, string>>, refusals: Refusal[]): Promise<PrimaryLink | null> {
    for (const host of this.#hosts) {
      const found = await this.#connectTo(host, settings).catch((error: unknown) => void refusals.push({ host, error }))
      if (found) return found
    }
    return null
  }

  /** Of several that say they are the primary, the one with the latest timeline. A server that hangs is not waited for. */
  async #latest(settings: Readonly<Record<string, string>>, refusals: Refusal[]): Promise<PrimaryLink | null> {
    const all: PrimaryLink[] = []
    let isOver = false
    const timers: ReturnType<typeof setTimeout>[] = []
    const patience = Promise.withResolvers<void>()
    const asking = this.#hosts.map(async (host) => {
      const found = await this.#connectTo(host, settings).catch((error: unknown) => void refusals.push({ host, error }))
      if (found === undefined) return
      if (isOver) return found?.link.close()
      if (found !== null) all.push(found)
      timers.push(setTimeout(patience.resolve, longestSearchMs[found === null ? 'standby' : 'primary']))
    })
    await Promise.race([Promise.all(asking), patience.promise])
    isOver = true
    for (const timer of timers) clearTimeout(timer) // a command would not end before them
    // `#follow` has closed those with an earlier timeline.
    const [latest = null, ...others] = all.filter(({ link }) => link.isOpen)
    for (const { link } of others) link.close()
    return latest
  }

  async #connectTo(host: Host, settings: Readonly<Record<string, string>>): Promise<PrimaryLink | null> {
    const link = await Link.open(this.#address, host, settings, this.#noteRefused)
    let settling: unknown = null
    const awaits = Promise.withResolvers<boolean>()
    const ask = setTimeout(
      () => awaits.resolve(settling !== null && this.#awaitsStandby(host, settling)),
      longestSettlingMs - askedBeforeMs,
    )
    let isLate = false
    const giveUp = setTimeout(() => {
      isLate = true
      link.close()
    }, longestSettlingMs)
    try {
      const [[inRecovery, timeline, isMigrated, pid] = []] = (await link.send(roleText, [])).rows
      if (inRecovery === false && this.#follow(link, String(timeline))) {
        settling = pid
        if (isMigrated === true) await this.#note(link, String(timeline))
        await link.send(barrierText, [])
        return { link, timeline: String(timeline) }
      }
    } catch (error) {
      link.close()
      if (isLate) throw (await awaits.promise) ? new Unconfirmed() : new Unanswered()
      throw error
    } finally {
      clearTimeout(ask)
      clearTimeout(giveUp)
    }
    link.close()
    return null
  }

  /** Whether the session waits for a synchronous standby, as another one sees. */
  async #awaitsStandby(host: Host, pid: unknown): Promise<boolean> {
    const link = await Link.open(this.#address, host, {}, this.#noteRefused).catch(() => null)
    const asking = link?.within(longestSettlingMs, async () => (await link.send(waitText, [pid])).rows.length > 0)
    return await (asking ?? Promise.resolve(false)).catch(() => false).finally(() => link?.close())
  }

  /**
   * Notes a timeline before this process takes an ID on it. The barrier takes one: an ID that a lost transaction had would seem to be
   * kept. Sessions for reading may do this, too.
   */
  async #note(link: Link, timeline: string): Promise<void> {
    if (timeline === this.#notedTimeline) return
    try {
      await link.sendAll(`BEGIN READ WRITE; ${timelineText(timeline)}; COMMIT`)
      this.#notedTimeline = timeline
    } catch (error) {
      if (postgresFault(error) !== 'statement') throw error
      await link.rollback() // the tables are of an earlier version, or not ours, which is told later
      link.start()
    }
  }

  /** False for a timeline that is older than the latest one. */
  #follow(link: Link, timeline: string): boolean {
    if (timeline < this.#timeline) return false
    if (timeline > this.#timeline) {
      this.#prefer(link.host) // at once: what was under way on the deposed one tries again now
      for (const deposed of this.#links.splice(0)) deposed.close()
    }
    this.#timeline = timeline
    this.#links = [...this.#links.filter(({ isOpen }) => isOpen), link]
    return true
  }

  #prefer(host: Host): void {
    this.#hosts = [host, ...this.#hosts.filter((each) => each !== host)]
  }
}

/**
 * A commit that writes to the WAL and to no table. When it is answered, the standby has all commits before it, too.
 *
 * Each connection begins with it. A server that has crashed and started again shows commits that were never answered, because its
 * standby did not have them. A repeated request would find its effect done, commit nothing, and be answered with what a failover
 * loses. A connection never outlives a crash, so once is enough.
 */
export const barrierText = "SELECT pg_logical_emit_message(true, 'app-platform', 'barrier')"

/** A table of 2 MiB, which takes room in no WAL: an update may fit into a page that is there while nothing else can be stored. */
const trialText = `BEGIN; CREATE UNLOGGED TABLE trial_${crypto.randomUUID().replaceAll('-', '')} AS
  SELECT repeat('x', 1900) AS filler FROM generate_series(1, 1100); ROLLBACK`

const noPrimary = (reason: unknown = null) => unavailable(5, reason ?? new NoPrimary())
