import type { Awaitable } from '../src/domain/awaitable.ts'
import { PlatformError } from '../src/domain/errors.ts'
import {
  DatabaseUnusable,
  type NodeFacts,
  otherDatabaseSentence,
  type Sharing,
  type Cluster,
  type Store,
  type StoreFault,
  type StoreHealth,
  type StoreStatistics,
  type TransactionOptions,
} from './database.ts'
import { postgresFaultAt, refusalIn } from './faults/postgres.ts'
import { parseAddress } from './postgres/address.ts'
import { inSentences, prepare } from './postgres/commands.ts'
import { Conditional } from './postgres/conditional.ts'
import { drizzleOver, type Wire } from './postgres/dialect.ts'
import { hasNoRoom, lastsMs, postgresFault, sqlState, unavailable } from './postgres/fault.ts'
import type { Link } from './postgres/link.ts'
import { Member, Pool } from './postgres/pool.ts'
import { Primary } from './postgres/primary.ts'
import { FolderBackups } from './backups.ts'
import { openCluster } from './postgres/cluster.ts'
import { dumpBackups } from './postgres/dump.ts'
import { Pulse } from './postgres/pulse.ts'
import { Readers } from './postgres/readers.ts'
import { assertCurrent, changesLostSentence, type PostgresMigration } from './postgres/schema.ts'
import { Timelines } from './postgres/timelines.ts'
import { Transactions } from './postgres/transactions.ts'
import type { DrizzleConnection } from './queries/connection.ts'

type PostgresOptions<Q> = {
  readonly url: string
  /** `server`: a node. `operator`: a short-lived process beside the nodes. */
  readonly role: 'server' | 'operator'
  /** Of a node. */
  readonly facts?: NodeFacts
  /** Called for the reading connections together, and for each writing one. */
  readonly createQueries: (db: DrizzleConnection) => Q
  readonly migrations: readonly PostgresMigration[]
  /** Whether to bring the schema up to date. Otherwise an empty or outdated one is refused. */
  readonly migrate: boolean
  /** Whether transactions wait for a connection as long as it takes, and not 5 seconds at most. */
  readonly isPatient?: boolean
  /** Where the server puts dumps; null or left out: it makes none. */
  readonly backupFolder?: string | null
  /** Called with the names of the migrations that this opening has applied, if it applied any. */
  readonly onMigrated?: (applied: readonly string[]) => void
  /** Called once if an earlier server of this machine did not end properly: a few seconds after the start, if it was killed just before. */
  readonly onUncleanEnd?: () => void
  /** Called once, when writes have stopped for good. */
  readonly onFault?: (fault: StoreFault) => void
}

/** Connections of a node; with the one that watches 22, so that four nodes fit into 100. `changing`: for conditional transactions. */
const sizes = { reading: 4, guarded: 12, changing: 4, serial: 1 } as const

/**
 * How often connections are looked at, and how long a statement may take until its connection is given up: shorter than
 * the HTTP server lets a request wait, so that its client gets an answer.
 */
const watchMs = 200
const longestStatementMs = 15_000

/**
 * Opens the store on a PostgreSQL database.
 * @throws DatabaseUnusable with a sentence for the operator if the server cannot be reached, cannot be trusted, or has other tables
 */
export const openPostgres = async <Q>(options: PostgresOptions<Q>): Promise<Store<Q>> => {
  const primary = new Primary(parseAddress(options.url))
  const { applied, databaseBytes, databaseTime, measuredAt } = await prepare(primary, options)
  if (applied.length > 0) options.onMigrated?.(applied)
  const time = () => Math.floor(databaseTime + performance.now() - measuredAt)
  const ended = Promise.withResolvers<string>()
  const missing = () => ended.resolve(changesLostSentence)
  const timelines = new Timelines(missing)
  const start = async () =>
    await Pulse.start(primary, timelines, {
      facts: options.facts ?? unnamed,
      confirm: async (link) => await assertCurrent(link, options.migrations), // others may have migrated meanwhile
      replaced: () => ended.resolve(stoppedSentence),
      missing,
      uncleanEnd: options.onUncleanEnd ?? (() => undefined),
    })
  const pulse = options.role === 'server' ? await inSentences(primary, start) : null
  const store = new PostgresStore(options, { primary, timelines, pulse, databaseBytes, time })
  void ended.promise.then((reason) => store.stop(reason))
  if (pulse !== null) await inSentences(primary, async () => await store.open())
  return store
}

const unnamed: NodeFacts = { name: '', version: '', settings: {} }

const stoppedSentence =
  'Another server or a command has taken the place of this one, which was frozen meanwhile: run systemctl restart app-platform.'
const unreachableSentence = (places: string) =>
  `PostgreSQL at ${places} has not confirmed a commit for more than 2 seconds: see with pg_lsclusters or patronictl list whether its primary and its synchronous standby run, and start what does not, or follow app-platform help high-availability.`
const clockSentence = (offsetMs: number): string =>
  `The clock of this machine is ${Math.round(Math.abs(offsetMs) / 1000)} s ${offsetMs > 0 ? 'ahead of' : 'behind'} that of PostgreSQL, ` +
  'so this server issues and purges nothing: set both right, such as by timedatectl set-ntp true.'
/**
 * Guarded transactions find every row by an index. Without this, PostgreSQL would choose to read a table that is small as a whole, and
 * keep to that while the table grows.
 */
const byIndex = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' } as const
/** An operator's command is short, and decides in transactions. */
const alwaysFresh = { isFresh: true, refresh: async () => undefined }

type Parts = {
  readonly primary: Primary
  readonly timelines: Timelines
  /** Null for an operator's command. */
  readonly pulse: Pulse | null
  readonly databaseBytes: number
  /** Of PostgreSQL, as far as it was measured at the start. */
  readonly time: () => number
}

class PostgresStore<Q> implements Store<Q> {
  readonly queries: Q
  readonly cluster: Cluster
  readonly backups: FolderBackups | null
  readonly #readers: Readers
  readonly #pools: Readonly<Record<'guarded' | 'changing' | 'serial', Pool<Member<Q>>>>
  readonly #conditional: Conditional<Q>
  readonly #transactions: Transactions<Q>
  readonly #timer: ReturnType<typeof setInterval>
  #url: string
  #wasStale = false
  #triedAt = 0
  #closed = false
  #stopped: string | null = null
  #underWay = new Set<Promise<unknown>>()

  constructor(
    private readonly options: PostgresOptions<Q>,
    private readonly parts: Parts,
  ) {
    const { primary, timelines, pulse } = parts
    this.#url = options.url
    const { backupFolder = null } = options
    this.backups =
      backupFolder === null
        ? null
        : new FolderBackups(
            backupFolder,
            dumpBackups(() => this.#url),
          )
    const queriesOver = (wire: Wire) => options.createQueries(drizzleOver(wire))
    const connect = async (settings = {}) => {
      const found = await primary.connect(settings)
      await timelines.meet(found.link, found.timeline)
      return new Member(found, queriesOver, () => this.#readers.forTransaction())
    }
    this.#readers = new Readers(
      sizes.reading,
      async () => (await primary.connect({ default_transaction_read_only: 'on' })).link,
      pulse ?? alwaysFresh,
    )
    this.queries = queriesOver(this.#readers)
    const isPatient = options.role === 'operator' || options.isPatient === true
    const poolOf = (size: number, settings = {}) => new Pool(size, isPatient, async () => await connect(settings))
    const changing = poolOf(sizes.changing, byIndex)
    this.#pools = { guarded: poolOf(sizes.guarded, byIndex), changing, serial: poolOf(sizes.serial) }
    const forConditional = { readers: this.#readers, pool: changing, primary, timelines, createQueries: queriesOver }
    this.#conditional = new Conditional({ ...forConditional, isPatient })
    this.#transactions = new Transactions(this.#pools, this.#conditional, primary, timelines, pulse ?? alwaysFresh)
    this.cluster = openCluster(async (work) => await this.#lend(work))
    this.#timer = setInterval(() => this.#watch(), watchMs)
    this.#timer.unref()
  }

  /** Opens a connection of each kind, before the transactions of one kind can have taken all that PostgreSQL has room for. */
  async open(): Promise<void> {
    try {
      await this.#readers.open()
      for (const pool of Object.values(this.#pools)) await pool.use(async () => undefined)
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async transaction<T>(
    work: (queries: Q) => Awaitable<T>,
    { kind = 'serial', endsAccess }: TransactionOptions<T> = {},
  ): Promise<T> {
    if (this.#closed || this.#stopped !== null) throw unavailable(this.#closed ? 1 : 30)
    if (this.#isReadOnly) throw unavailable(5, this.parts.primary.refused)
    const running = this.#transactions.run(this.#allowed(work, endsAccess), kind)
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  /** With a wrong clock only a transaction that ends access is accepted. */
  #allowed<T>(work: (queries: Q) => Awaitable<T>, endsAccess: TransactionOptions<T>['endsAccess']) {
    if (this.parts.pulse?.clockIsWrong !== true) return work
    if (endsAccess === undefined) throw unavailable(30)
    return async (queries: Q): Promise<T> => {
      const value = await work(queries)
      if (!endsAccess(value)) throw unavailable(30)
      return value
    }
  }

  get node(): number {
    return this.parts.pulse?.node ?? 0
  }

  leads(): boolean {
    return this.parts.pulse?.leads ?? true
  }

  readonly renewPassword = async (url: string): Promise<string | null> => {
    const { primary } = this.parts
    try {
      const address = parseAddress(url)
      if (!primary.isBesidePassword(address)) return otherDatabaseSentence
      await primary.renewPassword(address.password)
    } catch (error) {
      if (error instanceof DatabaseUnusable) return error.message
      const refusal = refusalIn(error, primary)
      if (refusal === null) throw error
      return refusal
    }
    this.#url = url
    return null
  }

  time(): number {
    return this.parts.pulse?.time ?? this.parts.time()
  }

  sharing(): Sharing | null {
    const { pulse, primary } = this.parts
    if (pulse === null) return null
    const shortage = this.health().problem === 'connections' ? null : this.#shortage
    return { ...pulse.sharing, place: primary.places, hosts: primary.hostCount, shortage }
  }

  /** Null once a connection was opened again. */
  get #shortage(): string | null {
    const { primary } = this.parts
    return hasNoRoom(primary.failure) ? refusalIn(primary.failure, primary) : null
  }

  /** Then each attempt of a transaction would open another session, and be refused. */
  get #isReadOnly(): boolean {
    const { refused } = this.parts.primary
    return refused !== null && this.parts.pulse !== null && sqlState(refused) === '25006'
  }

  /** Refuses everything from now on, until a restart. */
  stop(reason: string): void {
    if (this.#stopped !== null) return
    this.#stopped = reason
    this.parts.pulse?.stop()
    this.options.onFault?.({ reason, cause: new Error(reason) })
  }

  health(): StoreHealth {
    if (this.#stopped !== null) return { writable: false, problem: 'failed', reason: this.#stopped }
    const { pulse, primary } = this.parts
    const shortage = this.#shortage
    const kinds = [this.#readers, ...Object.values(this.#pools)]
    if (shortage !== null && (pulse?.isFresh === false || kinds.some(({ hasConnection }) => !hasConnection))) {
      return { writable: false, problem: 'connections', reason: shortage }
    }
    const { failure, refused } = primary
    const isStale = pulse?.isFresh === false
    const isGone = isStale && failure !== null && lastsMs(failure) === null
    const refusal = pulse === null || isGone ? null : refusalIn(refused, primary)
    if (refusal !== null) {
      return { writable: false, problem: sqlState(refused) === '53100' ? 'full' : 'refused', reason: refusal }
    }
    if (isStale) {
      const reason = refusalIn(failure, primary) ?? unreachableSentence(primary.places)
      return { writable: false, problem: 'unreachable', reason }
    }
    if (pulse?.clockIsWrong === true) {
      return { writable: false, problem: 'clock', reason: clockSentence(pulse.sharing.clockOffsetMs) }
    }
    return { writable: true, problem: null, reason: null }
  }

  explain(error: unknown): unknown {
    const isRefused = error instanceof PlatformError && error.code === 'unavailable'
    const { reason } = this.health()
    if (isRefused && reason !== null) return new DatabaseUnusable('down', reason, { cause: error })
    return postgresFaultAt(error, this.parts.primary) ?? error
  }

  statistics(): StoreStatistics {
    return {
      transactions: this.#transactions.count,
      commits: this.#transactions.count,
      databaseBytes: this.parts.pulse?.databaseBytes ?? this.parts.databaseBytes,
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
    this.parts.pulse?.keepTime(at)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    clearInterval(this.#timer)
    await this.parts.pulse?.close()
    this.#readers.close()
    for (const pool of Object.values(this.#pools)) pool.close()
  }

  /** Lends a connection. @throws unavailable if the server cannot be asked now */
  async #lend<T>(work: (link: Link) => Promise<T>): Promise<T> {
    if (this.#closed) throw unavailable(1)
    try {
      return await this.#pools.guarded.use(async ({ link }) => await work(link))
    } catch (error) {
      throw postgresFault(error) === 'statement' ? error : unavailable(1, error)
    }
  }

  #watch(): void {
    // Reads must not wait for a server that is out of reach. After this process was stopped, answers that have arrived
    // meanwhile come before the second look.
    const isStale = this.parts.pulse?.isFresh === false
    this.#readers.closeStuck(isStale && this.#wasStale ? 0 : longestStatementMs)
    this.#wasStale = isStale
    this.#conditional.passStuck()
    for (const pool of Object.values(this.#pools)) pool.closeStuck(longestStatementMs)
    const { pulse, primary } = this.parts
    if ((this.#shortage !== null && !isStale) || (primary.refused !== null && pulse !== null)) this.#tryAgain()
  }

  /** Notices within a second that there is room for connections again, and that writes are taken again, also while no request needs it. */
  #tryAgain(): void {
    const now = performance.now()
    if (now - this.#triedAt < 1_000) return
    this.#triedAt = now
    this.parts.primary.tryToWrite().catch(() => undefined) // noted
  }
}
