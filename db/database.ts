import type { AuditAction } from '../src/domain/audit-action.ts'
import type { Awaitable } from '../src/domain/awaitable.ts'
import type { Environment } from '../src/domain/app.ts'
import type { LimitChange, LimitDebt } from '../src/domain/limits.ts'
import type { AuditEvent, Queries } from './queries/index.ts'

export type * from './queries/index.ts'

/** The platform's store. */
export type Database = Store<Queries>

/**
 * The seam between the platform and its store: operations see this file and nothing below it. Generic over the queries,
 * so that the tests of an engine can bring tables of their own.
 */
export interface Store<Q> {
  /** Committed state only; never waits for a writer. */
  readonly queries: Q

  /**
   * As if one ran after the other, as far as its kind promises. Resolves once the change would survive a power cut; rejects with the
   * error that `work` threw, and then nothing of it was kept, or with `unavailable`, and then it may have been kept. `work` awaits
   * nothing but its queries and may run again, because another transaction failed or was first, or a connection was lost: no clock, no randomness, no hashing, no counting and no logging in it. On a full disk only
   * transactions that end access are accepted. They use the reserved space, and are undone if they ended none.
   */
  transaction<T>(work: (queries: Q) => Awaitable<T>, options?: TransactionOptions<T>): Promise<T>

  /** The number of this process among those that share the database, from 0 to 31: keys of rows have it. */
  readonly node: number

  /** Whether the work that one process does for all of them is now this one's. */
  leads(): boolean

  /** What the servers that share the database know of each other; null where there is one server. */
  sharing(): Sharing | null

  /** What the servers that share the database agree on beside the data; null if one server has it for itself. */
  readonly cluster: Cluster | null

  /** The backups that this server makes; null on PostgreSQL unless BACKUP_DIRECTORY says where to. */
  readonly backups: Backups | null

  /**
   * Logs in to PostgreSQL with the password of this URL from now on; connections that are open stay. Gives null, or why nothing was
   * changed, as a sentence for the operator. Null where there is no password.
   */
  readonly renewPassword: ((url: string) => Promise<string | null>) | null

  /** The time by the database's own clock in epoch milliseconds, or a little less; null where it has none. */
  time(): number | null

  /** Whether a transaction could succeed now, and if not, the reason in a sentence for the operator. */
  health(): StoreHealth

  /**
   * An error of work on this store. If it is one of its place, its file or its server, and not of the work, then as DatabaseUnusable, with
   * the sentence for the operator; any other as it is.
   */
  explain(error: unknown): unknown

  statistics(): StoreStatistics

  /** The latest time that `keepTime` kept; null if there is none. */
  keptTime(): number | null

  /** Keeps the time, in epoch milliseconds, with the data, within a second and at almost no cost, but without a guarantee. */
  keepTime(at: number): void

  /** Finishes the queued transactions, then closes the file. Later transactions are refused. */
  close(): Promise<void>
}

/** Why a server that runs does not go on with another database. */
export const otherDatabaseSentence =
  'DATABASE_URL_FILE has another database than the one in use, and only the password of PostgreSQL can change while the server runs: run systemctl restart app-platform to use it, or write the old URL back.'

export type Cluster = {
  /**
   * Adds what this server has counted under limits, and gives what all servers have counted, for the keys that any of them has
   * changed since the last call. @throws unavailable if the database cannot be reached
   */
  mergeLimits(changes: readonly LimitChange[]): Promise<readonly LimitDebt[]>

  /**
   * Takes leases that no other server has, in the order of their names in the list, and gives the names of those. None of the list
   * may be in use by the caller.
   */
  takeLeases(names: readonly string[], most: number): Promise<readonly string[]>

  /** Whether this server has the lease for long enough to finish one piece of work, extended if need be. */
  keepLease(name: string): Promise<boolean>

  /** Gives the lease back: others may take it, after a rest in milliseconds. */
  endLease(name: string, restMs: number): Promise<void>
}

/** A complete backup. The name has the moment in it, in epoch milliseconds. */
export type BackupFile = { readonly name: string; readonly madeAt: number; readonly sizeBytes: number }

export type BackupWork = {
  readonly kind: 'backup' | 'check'
  readonly name: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** How much of a backup is written. */
  readonly bytes: number
}

/** What work has found: nothing wrong, or what is, in plain sentences. It ended at this time, in epoch milliseconds. */
export type BackupOutcome = Pick<BackupWork, 'kind' | 'name'> & {
  readonly endedAt: number
  readonly problems: readonly string[]
}

/** Backups in one folder, beside the database. `make` and `check` need a successful `begin`, and `end` after it. */
export type Backups = {
  readonly folder: string
  /** Newest first. */
  list(): readonly BackupFile[]
  /** Reserves the only place for work, at this time, and gives the name of the backup; null while other work goes on. */
  begin(kind: BackupWork['kind'], at: number, name?: string): string | null
  /** Frees the place, and keeps the outcome, if any, until the server stops. */
  end(outcome: Pick<BackupOutcome, 'endedAt' | 'problems'> | null): void
  work(): BackupWork | null
  /** Of the latest work, newest first. */
  outcomes(): readonly BackupOutcome[]
  /**
   * Copies what is committed into a file of this name and checks the copy. Returns what is wrong with it, in plain sentences.
   * @throws DatabaseUnusable if there is no copy
   */
  make(name: string): Promise<readonly string[]>
  /** What is wrong with a backup, in plain sentences. Reads all of it. */
  check(name: string): Promise<readonly string[]>
  /** Removes all but the newest backups, never this one, and returns the names of the removed ones. */
  prune(keep: number, newest: string): readonly string[]
  /** Renames a copy that may be damaged, so that it counts no longer. Returns its path. */
  setAside(name: string): string
  /** Free space on the disk of the folder; null if unknown. */
  freeBytes(): number | null
}

/** Builds the audit row of a command on a stopped database. `idAt` is the time in its ID, which decides its place in the audit. */
export type WriteEvent = (
  moment: { readonly at: number; readonly idAt: number },
  facts: {
    readonly action: AuditAction
    readonly target?: string
    readonly appId?: string
    readonly environment?: Environment
    readonly detail?: Readonly<Record<string, unknown>>
  },
) => AuditEvent

/**
 * How transactions keep out of each other's way, where an engine runs several at once. SQLite runs all one after the other.
 *
 * - `serial`: they run one after the other over all servers.
 * - `guarded`: it runs beside them, and every row whose state it relies on is locked as it is read (`locks` of a reader), changed by a
 *   conditional write, or read again when what was issued is used; `test/architecture.test.ts` lists who may ask for this.
 * - `conditional`: likewise, and nearly always one change is all that it writes: an insert under a fresh key, or one that has its own
 *   conditions (`advance` of a grant). Then nothing is locked; otherwise it runs again as `guarded`. Nothing may follow a change with
 *   conditions. If its answer was lost, the body runs again and must recognise what it has changed; the key of a row that was inserted
 *   is taken then.
 */
export type TransactionKind = 'serial' | 'guarded' | 'conditional'

export type TransactionOptions<T> = {
  /** `serial` by default. */
  readonly kind?: TransactionKind | undefined
  /** Set for a transaction that is meant to end access. Returns whether it did. */
  readonly endsAccess?: ((value: T) => boolean) | undefined
  /**
   * Whether its queries pause, because it changes so many rows. Reads go on between them. On SQLite it has a commit of its own, and
   * other transactions wait for it, 5 seconds at most.
   */
  readonly isLong?: boolean | undefined
}

/** Why the store takes no writes: `failed` until a restart, `full` until there is room, `locked` while another program writes,
 * `refused` while a server of the database runs and writes nothing, for another cause that needs a person, `unreachable` while a server of the database confirms no commits, `connections` while it has none left for this process, `clock` while this machine's clock is too far from the
 * database's. With `full` and `clock`, access can still be ended. */
export type StoreProblem = 'failed' | 'full' | 'locked' | 'refused' | 'unreachable' | 'connections' | 'clock'

/** What a server tells the others that share its database. */
export type NodeFacts = {
  /** Of its machine. */
  readonly name: string
  readonly version: string
  /** The settings that must be the same everywhere: the name of each, and a digest of its value. */
  readonly settings: Readonly<Record<string, string>>
}

/** A server, as it was at the last heartbeat of this one. */
export type NodeState = Pick<NodeFacts, 'name' | 'version'> & {
  readonly number: number
  /** How long ago it started, and its last heartbeat was, in milliseconds. */
  readonly runningMs: number
  readonly silentMs: number
  /** How far its clock is ahead of the database's, in milliseconds; negative: behind. Null: not measured yet. */
  readonly clockOffsetMs: number | null
  /** Whether it does the work that one server does for all. */
  readonly leads: boolean
  /** The settings in which it differs from this server. */
  readonly differs: readonly string[]
}

export type Sharing = {
  /** All that were heard in the last minute, this one among them. */
  readonly nodes: readonly NodeState[]
  /** As in `NodeState`, of this one. */
  readonly clockOffsetMs: number
  /** Whether commits wait for a standby, so that they are not lost with the primary. */
  readonly hasSynchronousStandby: boolean
  /** Whether there are more standbys than commits wait for, so that a deposed primary could go on with one of them. */
  readonly hasSpareStandby: boolean
  /** Host, port and name of the database. */
  readonly place: string
  /** How many servers the URL of the database names. */
  readonly hosts: number
  /**
   * Why this server goes on with fewer connections than it needs, as a sentence for the operator; null if it has enough, and if
   * it takes no writes for this reason.
   */
  readonly shortage: string | null
}

export type StoreHealth =
  | { readonly writable: true; readonly problem: null; readonly reason: null }
  | {
      readonly writable: false
      readonly problem: StoreProblem
      /** What is wrong and what to do. */
      readonly reason: string
    }

export type StoreStatistics = {
  /** Transactions answered and commits made for them, since the start. */
  readonly transactions: number
  readonly commits: number
  readonly databaseBytes: number
  readonly walBytes: number
  /** As in `health`. */
  readonly writable: boolean
  /** Bytes that this process may still write to the disk of the database; null if unknown. */
  readonly freeDiskBytes: number | null
  /** How often a transaction could not begin because another process was writing. */
  readonly lockWaits: number
  readonly failedCheckpoints: number
}

/**
 * Why writes stopped for good. The process should answer what it can for a few seconds, exit, and recover at its next
 * start. It ends by SIGKILL when it exits, because an orderly end would touch the file again.
 */
export type StoreFault = { readonly reason: string; readonly cause: unknown }

export type UnusableKind =
  | 'missing'
  | 'in_use'
  | 'not_private'
  | 'linked'
  | 'foreign'
  | 'newer'
  | 'outdated'
  | 'migration_changed'
  | 'migration_failed'
  | 'old_sqlite'
  | 'exists'
  | 'damaged'
  | 'altered'
  | 'full'
  | 'rolled_back'
  | 'unsupported'
  | 'moved'
  | 'sealed'
  | 'busy'
  /** No primary answers, or it has no room: this may pass by itself. */
  | 'down'
  | 'unreachable'
  | 'out_of_reach'

/** The database cannot be used as asked. The message is a whole sentence that an operator can act on. */
export class DatabaseUnusable extends Error {
  constructor(
    readonly kind: UnusableKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'DatabaseUnusable'
  }
}
