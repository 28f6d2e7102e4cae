import { refuse } from '../../src/domain/errors.ts'
import type { Address, Host } from './address.ts'
import { Link } from './link.ts'

/** A connection to the primary, and the history that the primary writes: a promoted standby begins another timeline. */
export type PrimaryLink = { readonly link: Link; readonly timeline: string }

/** After no server was found, how long every further attempt fails at once, in milliseconds. */
const restMs = 100
/** How long a search waits for the other servers once it has found one, in milliseconds. */
const longestSearchMs = 500

const roleText = `SELECT pg_is_in_recovery(),
  CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END`

/**
 * Finds the one of the servers that takes writes. Standbys are never used, because they lag behind. When a standby has been
 * promoted, all connections to the deposed primary are closed, and it is not used again.
 */
export class Primary {
  #hosts: readonly Host[]
  #failedAt = Number.NEGATIVE_INFINITY
  #timeline = ''
  #links: Link[] = []

  constructor(private readonly address: Address) {
    this.#hosts = address.hosts
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
    if (performance.now() - this.#failedAt < restMs) throw noPrimary()
    const refusals: unknown[] = []
    const found = search ? await this.#latest(settings, refusals) : await this.#first(settings, refusals)
    if (found !== null) {
      this.#hosts = [found.link.host, ...this.#hosts.filter((host) => host !== found.link.host)]
      return found
    }
    this.#failedAt = performance.now()
    throw refusals[0] ?? noPrimary()
  }

  async #first(settings: Readonly<Record<string, string>>, refusals: unknown[]): Promise<PrimaryLink | null> {
    for (const host of this.#hosts) {
      const found = await this.#connectTo(host, settings).catch((error: unknown) => void refusals.push(error))
      if (found) return found
    }
    return null
  }

  /** Of several that say they are the primary, the one with the latest timeline. A server that hangs is not waited for. */
  async #latest(settings: Readonly<Record<string, string>>, refusals: unknown[]): Promise<PrimaryLink | null> {
    const all: PrimaryLink[] = []
    const one = Promise.withResolvers<void>()
    const asking = this.#hosts.map(async (host) => {
      const found = await this.#connectTo(host, settings).catch((error: unknown) => void refusals.push(error))
      if (found) all.push(found)
      if (found) one.resolve()
    })
    await Promise.race([Promise.all(asking), one.promise.then(() => Bun.sleep(longestSearchMs))])
    // `#follow` has closed those with an earlier timeline.
    const [latest = null, ...others] = all.filter(({ link }) => link.isOpen)
    for (const { link } of others) link.close()
    return latest
  }

  async #connectTo(host: Host, settings: Readonly<Record<string, string>>): Promise<PrimaryLink | null> {
    const link = await Link.open(this.address, host, settings)
    try {
      const [[inRecovery, timeline] = []] = (await link.send(roleText, [])).rows
      if (inRecovery === false && this.#follow(link, String(timeline))) return { link, timeline: String(timeline) }
    } catch (error) {
      link.close()
      throw error
    }
    link.close()
    return null
  }

  /** False for a timeline that is older than the latest one. */
  #follow(link: Link, timeline: string): boolean {
    if (timeline < this.#timeline) return false
    if (timeline > this.#timeline) for (const deposed of this.#links.splice(0)) deposed.close()
    this.#timeline = timeline
    this.#links = [...this.#links.filter(({ isOpen }) => isOpen), link]
    return true
  }
}

const noPrimary = () => refuse('unavailable', { retryAfterSeconds: 5 })
