import type { Awaitable } from '../src/domain/awaitable.ts'
import {
  type Store,
  type StoreFault,
  type StoreHealth,
  type StoreStatistics,
  type TransactionOptions,
} from './database.ts'
import { parseAddress } from './postgres/address.ts'
import { prepare } from './postgres/commands.ts'
import { drizzleOver, type Wire } from './postgres/dialect.ts'
import { unavailable } from './postgres/fault.ts'
import { Member, Pool } from './postgres/pool.ts'
import { Primary } from './postgres/primary.ts'
import { Pulse } from './postgres/pulse.ts'
import { Readers } from './postgres/readers.ts'
import type { PostgresMigration } from './postgres/schema.ts'
import { Timelines } from './postgres/timelines.ts'
import { Transactions } from './postgres/transactions.ts'
import type { DrizzleConnection } from './queries/connection.ts'

export type PostgresOptions<Q> = {
  readonly url: string
  /** `server`: a node. `operator`: a short-lived process beside the nodes. */
  readonly role: 'server' | 'operator'
  /** Called for the reading connections together, and for each writing one. */
  readonly createQueries: (db: DrizzleConnection) => Q
  readonly migrations: readonly PostgresMigration[]
  /** Whether to bring the schema up to date. Otherwise an empty or outdated one is refused. */
  readonly migrate: boolean
  /** Whether transactions wait for a connection as long as it takes, and not 5 seconds at most. */
  readonly isPatient?: boolean
  /** Called once, when writes have stopped for good. */
  readonly onFault?: (fault: StoreFault) => void
}

/** Connections of a node; together with the one that watches 22, so that four nodes fit into the 100 that servers admit. */
const sizes = { reading: 4, guarded: 16, serial: 1 } as const

/** How often connections are looked at, and how long a statement may take until its connection is given up. */
const watchMs = 1_000
const longestStatementMs = 30_000

/**
 * Opens the store on a PostgreSQL database.
 * @throws DatabaseUnusable with a sentence for the operator if the server cannot be reached, cannot be trusted, or has other tables
 */
export const openPostgres = async <Q>(options: PostgresOptions<Q>): Promise<Store<Q>> => {
  const primary = new Primary(parseAddress(options.url))
  const { databaseBytes } = await prepare(primary, options)
  const lost = Promise.withResolvers<void>()
  const pulse = options.role === 'server' ? await Pulse.start(primary, { lost: lost.resolve }) : null
  const store = new PostgresStore(options, primary, pulse, databaseBytes)
  void lost.promise.then(() => store.stop(stoppedSentence))
  return store
}

const stoppedSentence =
  'Another server has taken the place of this one, which was stopped for more than a minute: restart it.'
const missingSentence =
  'PostgreSQL has failed over and lacks changes that were acknowledged: end everything that was issued before going on.'
const unreachableSentence =
  'PostgreSQL has not confirmed a commit for more than 2 seconds: see whether its primary and its synchronous standby run.'
/** An operator's command is short, and decides in transactions. */
const alwaysFresh = { isFresh: true, refresh: async () => undefined }

class PostgresStore<Q> implements Store<Q> {
  readonly queries: Q
  readonly #readers: Readers
  readonly #pools: { readonly guarded: Pool<Q>; readonly serial: Pool<Q> }
  readonly #transactions: Transactions<Q>
  readonly #timer: ReturnType<typeof setInterval>
  #closed = false
  #stopped: string | null = null
  #underWay = new Set<Promise<unknown>>()

  constructor(
    private readonly options: PostgresOptions<Q>,
    primary: Primary,
    private readonly pulse: Pulse | null,
    private readonly databaseBytes: number,
  ) {
    const timelines = new Timelines(() => this.stop(missingSentence))
    const queriesOver = (wire: Wire) => options.createQueries(drizzleOver(wire))
    const connect = async () => {
      const found = await primary.connect()
      await timelines.meet(found.link, found.timeline)
      return new Member(found, queriesOver)
    }
    this.#readers = new Readers(
      sizes.reading,
      async () => (await primary.connect({ default_transaction_read_only: 'on' })).link,
      pulse ?? alwaysFresh,
    )
    this.queries = queriesOver(this.#readers)
    const isPatient = options.role === 'operator' || options.isPatient === true
    this.#pools = {
      guarded: new Pool(sizes.guarded, isPatient, connect),
      serial: new Pool(sizes.serial, isPatient, connect),
    }
    this.#transactions = new Transactions(this.#pools, primary, timelines)
    this.#timer = setInterval(() => this.#watch(), watchMs)
    this.#timer.unref()
  }

  async transaction<T>(
    work: (queries: Q) => Awaitable<T>,
    { kind = 'serial' }: TransactionOptions<T> = {},
  ): Promise<T> {
    if (this.#closed || this.#stopped !== null) throw unavailable(this.#closed ? 1 : 30)
    const running = this.#transactions.run(work, kind)
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  get node(): number {
    return this.pulse?.node ?? 0
  }

  leads(): boolean {
    return this.pulse?.leads ?? true
  }

  /** Refuses everything from now on, until a restart. */
  stop(reason: string): void {
    if (this.#stopped !== null) return
    this.#stopped = reason
    this.options.onFault?.({ reason, cause: new Error(reason) })
  }

  health(): StoreHealth {
    if (this.#stopped !== null) return { writable: false, problem: 'failed', reason: this.#stopped }
    if (this.pulse?.isFresh === false) return { writable: false, problem: 'unreachable', reason: unreachableSentence }
    return { writable: true, problem: null, reason: null }
  }

  statistics(): StoreStatistics {
    return {
      transactions: this.#transactions.count,
      commits: this.#transactions.count,
      databaseBytes: this.pulse?.databaseBytes ?? this.databaseBytes,
      walBytes: 0,
      writable: this.health().writable,
      freeDiskBytes: null,
      lockWaits: this.#transactions.reruns,
      failedCheckpoints: 0,
    }
  }

  keptTime(): number | null {
    return null
  }

  keepTime(at: number): void {
    this.pulse?.keepTime(at)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    clearInterval(this.#timer)
    await this.pulse?.close()
    this.#readers.close()
    for (const pool of Object.values(this.#pools)) pool.close()
  }

  #watch(): void {
    this.#readers.closeStuck(longestStatementMs)
    for (const pool of Object.values(this.#pools)) pool.closeStuck(longestStatementMs)
  }
}
