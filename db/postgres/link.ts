import { SQL } from 'bun'
import type { Address, Host } from './address.ts'
import type { Sent } from './dialect.ts'
import { ConnectionLost, postgresFault } from './fault.ts'

/** The kind of a statement and the rows that it gave, of one of the statements of a text. */
type Answer = Sent & { readonly command: string }

/** How long a server has to accept a connection, in seconds. */
const connectSeconds = 5

/**
 * One connection. Statements that are sent together share round trips, and run in the order of the calls. It never
 * reconnects: a transaction must not go on in another session. Once lost, it refuses everything.
 */
export class Link {
  isOpen = true
  /** Statements that have not been answered. */
  underWay = 0

  #oldestAt = 0

  private constructor(
    private readonly client: SQL,
    private readonly session: SQL,
    /** The server that it leads to. */
    readonly host: Host,
  ) {}

  /** @throws what Bun throws for a server that cannot be reached or refuses the login */
  static async open(address: Address, host: Host, settings: Readonly<Record<string, string>>): Promise<Link> {
    const { user: username, password, database, tls, authority } = address
    const client = new SQL({
      adapter: 'postgres',
      // Without a URL, Bun would read one from the environment.
      url: `postgres://${host.host.includes(':') ? `[${host.host}]` : host.host}:${host.port}`,
      hostname: host.host,
      port: host.port,
      username,
      password,
      database,
      ...(host.socket !== null && { path: host.socket }),
      tls: authority !== null && tls === 'verify-full' ? Bun.file(authority) : tls,
      max: 1,
      bigint: true, // or integers of the tables would be strings, as texts are
      connectionTimeout: connectSeconds,
      connection: { ...sessionSettings, ...settings },
    })
    try {
      return new Link(client, await client.reserve(), host)
    } catch (error) {
      void client.close({ timeout: 0 })
      throw error
    }
  }

  /** Runs one statement with values for `$1` and so on. */
  async send(text: string, values: readonly unknown[]): Promise<Answer> {
    return await this.#track(async () => answerOf(await this.session.unsafe(text, [...values]).values()))
  }

  /** Runs several statements without values, in one message. */
  async sendAll(text: string): Promise<readonly Answer[]> {
    return await this.#track(async () => {
      const results = await this.session.unsafe(text).simple().values()
      return text.includes(';') ? results.map(answerOf) : [answerOf(results)]
    })
  }

  /** For how many milliseconds the oldest statement has been under way, about. */
  waitingMs(now: number): number {
    return this.underWay === 0 ? 0 : now - this.#oldestAt
  }

  /** Closes the socket. What is under way rejects. A statement is never cancelled: see `db/README.md`. */
  close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    void this.client.close({ timeout: 0 })
  }

  async #track<T>(run: () => Promise<T>): Promise<T> {
    if (!this.isOpen) throw new ConnectionLost()
    if (this.underWay === 0) this.#oldestAt = performance.now()
    this.underWay += 1
    try {
      return await run()
    } catch (error) {
      if (postgresFault(error) === 'lost') this.close()
      throw error
    } finally {
      this.underWay -= 1
      this.#oldestAt = performance.now()
    }
  }
}

const sessionSettings = {
  application_name: 'app-platform',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
  /** A transaction whose node hangs must not keep its locks. */
  idle_in_transaction_session_timeout: '5s',
  /** Waiting for another transaction, not for a commit. */
  lock_timeout: '5s',
}

const answerOf = (result: unknown[][] & { count: number; command: string | null }): Answer => {
  for (const row of result) {
    for (const [index, value] of row.entries()) row[index] = plain(value)
  }
  return { rows: result, changes: result.count, command: result.command ?? '' }
}

/** Values as bun:sqlite gives them. No integer of ours has more than 53 bits. */
const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value
}
