import { SQL } from 'bun'
import type { Address, Host } from './address.ts'
import type { Sent } from './dialect.ts'
import { ConnectionLost, postgresFault, Unanswered } from './fault.ts'

/** The kind of a statement and the rows that it gave, of one of the statements of a text. */
type Answer = Sent & { readonly command: string }

/** How long a server has to accept a connection, in seconds. */
const connectSeconds = 5
const timedOut = 'ERR_POSTGRES_CONNECTION_TIMEOUT'

/**
 * One connection. Statements that are sent together share round trips, and run in the order of the calls. It never
 * reconnects, as Bun would: a transaction must not go on in another session. Once lost, it refuses everything.
 */
export class Link {
  isOpen = true
  /** Statements that have not been answered. */
  underWay = 0
  /** The first error of a statement since the last `start`. Those of later statements follow from it. */
  failure: { readonly error: unknown } | null = null
  /** That of the transaction under way, once a row with it has been read. */
  transactionId: string | null = null
  /** Whether a statement has changed rows since then. */
  hasWritten = false

  #oldestAt = 0
  #isGivenUp = false

  private constructor(
    private readonly client: SQL,
    private readonly session: SQL,
    /** The server that it leads to. */
    readonly host: Host,
    /** Told of each error of a statement. */
    private readonly noteFailure: (error: unknown) => void,
  ) {}

  // Every promise costs, so each statement has one of ours, and these functions are made once per connection.

  readonly #answer = (result: Result): Answer => {
    this.#settled()
    const answer = answerOf(result)
    if (answer.changes > 0 && answer.command !== 'SELECT') this.hasWritten = true
    return answer
  }

  readonly #answerWithId = (result: Result): Answer => {
    const answer = this.#answer(result)
    this.transactionId ??= idIn(answer.rows)
    return answer
  }

  readonly #result = <T>(result: T): T => {
    this.#settled()
    return result
  }

  readonly #fail = (cause: unknown): never => {
    this.#settled()
    const error = this.#isGivenUp ? new Unanswered({ cause }) : cause
    this.failure ??= { error }
    this.noteFailure(error)
    if (postgresFault(error) === 'lost') this.#end()
    throw error
  }

  /** @throws what Bun throws for a server that cannot be reached or refuses the login */
  static async open(
    address: Address,
    host: Host,
    settings: Readonly<Record<string, string>>,
    noteFailure: (error: unknown) => void,
  ): Promise<Link> {
    const { user: username, password, database, tls, authority } = address
    let opened: Link | null = null
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
      onclose: () => {
        if (opened !== null) opened.isOpen = false // also of one that waits for nothing
      },
      connection: { ...sessionSettings, ...settings },
    })
    try {
      return (opened = new Link(client, await client.reserve(), host, noteFailure))
    } catch (error) {
      void client.close({ timeout: 0 })
      // Of TLS and of the file with the authority, not of PostgreSQL.
      if (error instanceof SQL.PostgresError) throw error.code === timedOut ? new Unanswered({ cause: error }) : error
      throw new ConnectionLost({ cause: error })
    }
  }

  /** Runs one statement with values for `$1` and so on. With `hasId`, the last column of its rows is `idColumn`. */
  send(text: string, values: unknown[], hasId = false): Promise<Answer> {
    return this.#track(this.session.unsafe(text, values), hasId ? this.#answerWithId : this.#answer)
  }

  /** Runs several statements without values, in one message, which waits until everything before it has been answered. */
  async sendAll(text: string): Promise<readonly Answer[]> {
    const results = await this.#track(this.session.unsafe(text).simple(), this.#result)
    return text.includes(';') ? results.map(answerOf) : [answerOf(results)]
  }

  // Bun sends only prepared statements together. Without values, they are prepared only if they are written in this way.

  /** Forgets what the transaction before this one has left. */
  start(): void {
    this.failure = null
    this.transactionId = null
    this.hasWritten = false
  }

  /** Begins a transaction. If that fails, so does every statement after it. */
  begin(): void {
    this.#track(this.session`BEGIN`, this.#result).catch(() => undefined)
  }

  /** Asks for the ID of a transaction that has read no row with it. */
  async askId(): Promise<string | null> {
    await this.#track(this.session`SELECT pg_current_xact_id()::text`, this.#answerWithId)
    return this.transactionId
  }

  /** False if the server has rolled back, because a statement had failed. It does so without an error. */
  async commit(): Promise<boolean> {
    return (await this.#track(this.session`COMMIT`, this.#result)).command === 'COMMIT'
  }

  async rollback(): Promise<void> {
    await this.#track(this.session`ROLLBACK`, this.#result)
  }

  /** Whether a statement of the transaction has failed, so that it cannot be committed. */
  get hasFailed(): boolean {
    return this.failure !== null
  }

  /** For how many milliseconds the oldest statement has been under way, about. */
  waitingMs(now: number): number {
    return this.underWay === 0 ? 0 : now - this.#oldestAt
  }

  /** Does the work, and closes the connection if that takes longer: its server may hang. */
  async within<T>(longestMs: number, work: () => Promise<T>): Promise<T> {
    const giveUp = setTimeout(() => this.close(), longestMs)
    try {
      return await work()
    } finally {
      clearTimeout(giveUp)
    }
  }

  /**
   * Closes the socket. What is under way rejects. A statement is never cancelled: a cancelled wait for the standby turns COMMIT into a
   * success that the standby does not have.
   */
  close(): void {
    if (this.underWay > 0) this.#isGivenUp = true
    this.#end()
  }

  #end(): void {
    this.isOpen = false
    void this.client.close({ timeout: 0 })
  }

  /** Sends the query, which Bun does not before somebody waits for it. */
  #track<R, T>(query: SQL.Query<R>, read: (result: R) => T): Promise<T> {
    if (!this.isOpen) return Promise.reject(new ConnectionLost())
    if (this.underWay === 0) this.#oldestAt = performance.now()
    this.underWay += 1
    return query.values().then(read, this.#fail)
  }

  #settled(): void {
    this.underWay -= 1
    this.#oldestAt = performance.now()
  }
}

/**
 * What every session is told when it begins, whatever is set for its role or database: all settings that change what a statement or a
 * value means, or how a value is written. What only a superuser may set is checked instead (`check.ts`).
 */
export const sessionSettings = {
  application_name: 'app-platform',
  client_encoding: 'UTF8',
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
  array_nulls: 'on',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  row_security: 'on',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  /** The connections of a pool wait for work. */
  idle_session_timeout: '0',
  /** A transaction whose node hangs must not keep its locks. */
  idle_in_transaction_session_timeout: '5s',
  /** Waiting for another transaction, not for a commit. */
  lock_timeout: '5s',
  /** Whatever is set for the role or the database: a purge, a check and a move take their time. */
  statement_timeout: '0',
}

type Result = unknown[][] & { count: number; command: string | null }

/** What a reading statement of a transaction selects in addition, so that it need not ask for its ID. */
export const idColumn = 'pg_current_xact_id()::text'

const idIn = (rows: unknown[][]): string | null => {
  const id = rows[0]?.at(-1)
  return typeof id === 'string' ? id : null
}

const answerOf = (result: Result): Answer => {
  for (const row of result) {
    for (let index = 0; index < row.length; index += 1) {
      const value = row[index]
      if (typeof value === 'object' || typeof value === 'bigint') row[index] = plain(value)
    }
  }
  return { rows: result, changes: result.count, command: result.command ?? '' }
}

/** Values as bun:sqlite gives them. No integer of ours has more than 53 bits. */
const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint8Array) return new Uint8Array(value) // to ask a Buffer for its memory costs more than a copy
  return value
}
