import { Counter, Gauge, Registry } from 'prom-client'
import { createRequestTally, type RouteTally } from './request-tally.ts'

/** What the store tells about itself when someone looks. */
export type StoreFigures = {
  readonly transactions: number
  readonly commits: number
  readonly databaseBytes: number
  readonly walBytes: number
  /** Whether it takes writes now. */
  readonly writable: boolean
}

export type Metrics = {
  /** One tally per route and method, bound once, when the routes are known. */
  route(method: string, pattern: string): RouteTally
  /** What happens to secrets, by kind only. */
  readonly tokens: {
    issued(kind: string): void
    refused(kind: string): void
    reused(kind: string): void
  }
  purged(kind: string, rows: number): void
  /** A job ended well just now; one that fails or hangs falls behind. */
  jobDone(job: string): void
  /** How long the oldest row that should be gone has been due. */
  purgeLag(seconds: number): void
  /** The trusted time minus the machine's. */
  clockOffset(seconds: number): void
  /** How long ago the last backup was made; null when none was. */
  backupAge(seconds: number | null): void
  /** Everything in the Prometheus text format. */
  render(): Promise<string>
  readonly contentType: string
}

/** Labels are kinds and route patterns, which are few and ours. A kind beyond these is a mistake and counts as `other`. */
const maximumKinds = 32

/** Counts in numbers of its own, which prom-client is told when somebody looks: its own counting takes ten times as long. */
const byKind = (registry: Registry, name: string, help: string) => {
  const counts = new Map<string, number>()
  const counter: Counter<'kind'> = new Counter({
    name,
    help,
    labelNames: ['kind'],
    registers: [registry],
    collect: () => {
      counter.reset()
      for (const [kind, count] of counts) counter.inc({ kind }, count)
    },
  })
  return (kind: string, count = 1): void => {
    const known = counts.size < maximumKinds || counts.has(kind) ? kind : 'other'
    counts.set(known, (counts.get(known) ?? 0) + count)
  }
}

const gauge = (registry: Registry, name: string, help: string, read: () => number): void => {
  const made: Gauge = new Gauge({ name, help, registers: [registry], collect: () => made.set(read()) })
}

const total = (registry: Registry, name: string, help: string, read: () => number): void => {
  const made: Counter = new Counter({
    name,
    help,
    registers: [registry],
    collect: () => {
      made.reset()
      made.inc(read())
    },
  })
}

export const createMetrics = (store: () => StoreFigures): Metrics => {
  const registry = new Registry()
  const requests = createRequestTally()
  let purgeLagSeconds = 0
  let clockOffsetSeconds = 0

  total(registry, 'database_transactions_total', 'Transactions answered.', () => store().transactions)
  total(registry, 'database_commits_total', 'Commits made for them.', () => store().commits)
  gauge(registry, 'database_bytes', 'Size of the database file.', () => store().databaseBytes)
  gauge(registry, 'database_wal_bytes', 'Size of the write-ahead log.', () => store().walBytes)
  gauge(registry, 'database_writable', '1 while the store takes writes, otherwise 0.', () => Number(store().writable))
  gauge(
    registry,
    'purge_lag_seconds',
    'How long the oldest expired row has waited for the purge.',
    () => purgeLagSeconds,
  )
  const clockHelp = "The trusted time minus the machine's: above 30 the server is not ready (clock reset)."
  gauge(registry, 'clock_offset_seconds', clockHelp, () => clockOffsetSeconds)
  const backupAge = new Gauge({
    name: 'backup_age_seconds',
    help: 'Time since the last backup; no sample before the first one.',
    labelNames: [],
    registers: [registry],
  })
  gauge(registry, 'process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  gauge(registry, 'process_heap_bytes', 'Memory in use by JavaScript.', () => process.memoryUsage().heapUsed)
  total(registry, 'process_cpu_seconds_total', 'Processor time, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  gauge(registry, 'process_uptime_seconds', 'Time since the start.', () => process.uptime())

  const lastDone = new Gauge({
    name: 'job_last_success_timestamp_seconds',
    help: 'When each of the jobs last ended well; at first, when the program started.',
    labelNames: ['job'],
    registers: [registry],
  })

  return {
    route: requests.route,
    tokens: {
      issued: byKind(registry, 'tokens_issued_total', 'Secrets handed out, by kind.'),
      refused: byKind(registry, 'tokens_refused_total', 'Secrets presented and refused, by kind.'),
      reused: byKind(registry, 'tokens_reused_total', 'Spent secrets presented again, by kind.'),
    },
    purged: byKind(registry, 'purged_rows_total', 'Expired rows deleted, by kind.'),
    jobDone: (job) => lastDone.setToCurrentTime({ job }),
    purgeLag: (seconds) => {
      purgeLagSeconds = seconds
    },
    clockOffset: (seconds) => {
      clockOffsetSeconds = seconds
    },
    backupAge: (seconds) => (seconds === null ? backupAge.remove() : backupAge.set(seconds)),
    render: async () => `${requests.render()}${await registry.metrics()}`,
    contentType: registry.contentType,
  }
}
