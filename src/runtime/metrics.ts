import { Counter, Gauge, Registry } from 'prom-client'
import { createRequestTally, Histogram } from './histogram.ts'
import { type ProcessFigures, readProcessFigures } from './process-figures.ts'
import { program } from './program.ts'

/** The figures that are read for each scrape. Null: unknown. */
export type Figures = {
  readonly transactions: number
  readonly commits: number
  readonly lockWaits: number
  readonly failedCheckpoints: number
  readonly databaseBytes: number
  readonly walBytes: number
  readonly freeDiskBytes: number | null
  readonly writable: boolean
  readonly sqliteVersion: string
  /** Positive when the machine's clock is behind the trusted time. */
  readonly clockOffsetSeconds: number
  readonly purgeLagSeconds: number | null
  /** Null before the first backup. */
  readonly backupAgeSeconds: number | null
  readonly dueDeliveries: number | null
  /** By reason. */
  readonly disabledEndpoints: Readonly<Record<string, number>>
  /** Whether each condition that needs a person holds, by name. */
  readonly conditions: Readonly<Record<string, boolean>>
}

export type Metrics = ReturnType<typeof createMetrics>

type Reading = Figures & ProcessFigures & { readonly openConnections: number | null }

/** The metrics without labels, which are read for each scrape. Names that end in `_total` are counters, all others gauges. */
const readings: Readonly<Record<string, readonly [help: string, read: (reading: Reading) => number | null]>> = {
  database_transactions_total: ['Transactions answered.', (r) => r.transactions],
  database_commits_total: ['Commits made for them.', (r) => r.commits],
  database_lock_waits_total: [
    'Times that a commit had to wait because another process was writing.',
    (r) => r.lockWaits,
  ],
  database_checkpoint_failures_total: [
    'Failed attempts to copy the write-ahead log into the database.',
    (r) => r.failedCheckpoints,
  ],
  database_bytes: ['Size of the database file.', (r) => r.databaseBytes],
  database_wal_bytes: ['Size of the write-ahead log.', (r) => r.walBytes],
  database_free_disk_bytes: ['Free space on the disk of the database.', (r) => r.freeDiskBytes],
  database_writable: ['1 while the store takes writes, otherwise 0.', (r) => Number(r.writable)],
  backup_age_seconds: ['Time since the last backup; no sample before the first one.', (r) => r.backupAgeSeconds],
  clock_offset_seconds: [
    "The trusted time minus the machine's: above 30 the server is not ready (clock reset).",
    (r) => r.clockOffsetSeconds,
  ],
  purge_lag_seconds: ['How long the oldest expired row has waited for the purge.', (r) => r.purgeLagSeconds],
  webhook_deliveries_due: ['Webhook deliveries whose time has come; counted up to 10000.', (r) => r.dueDeliveries],
  open_connections: ['Open connections: of clients, and to webhook endpoints.', (r) => r.openConnections],
  process_open_fds: ['Open file descriptors.', (r) => r.openDescriptors],
  process_max_fds: ['File descriptors that the process may have open.', (r) => r.maximumDescriptors],
  process_resident_memory_bytes: ['Resident memory.', () => process.memoryUsage.rss()],
  process_heap_bytes: ['Memory in use by JavaScript.', () => process.memoryUsage().heapUsed],
  process_cpu_seconds_total: ['Processor time, user and system.', () => cpuSeconds(process.cpuUsage())],
  process_uptime_seconds: ['Time since the start.', () => process.uptime()],
}

const cpuSeconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6

/** Labels are our own kinds and route patterns. More kinds than this are a mistake and count as `other`. */
const maximumKinds = 32

/** Counts in a map, which prom-client reads for each scrape: its own counting takes ten times as long. */
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

/** From a tenth of a millisecond, a fast disk, to a second, which every caller notices. */
const latencyBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** `listeners`: the sockets that the program listens on, which do not count as connections. */
export const createMetrics = (listeners = 1) => {
  const registry = new Registry()
  const requests = createRequestTally()
  const syncs = new Histogram(latencyBounds)
  const lags = new Histogram(latencyBounds)
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name, help, labelNames, registers: [registry] })

  const tellers = Object.entries(readings).map(([name, [help, read]]) => {
    const metric = new (name.endsWith('_total') ? Counter : Gauge)({ name, help, registers: [registry] })
    return (reading: Reading): void => {
      const value = read(reading)
      metric.reset()
      if (value === null) metric.remove()
      else metric.inc(value)
    }
  })
  const disabled = gauge('webhook_endpoints_disabled', 'Webhook endpoints that are called no more, by reason.', [
    'reason',
  ])
  const condition = gauge('condition', '1 while a person has to do something, otherwise 0, by name.', ['name'])
  const build = gauge('build_info', 'Always 1: version and commit of the program, and versions of Bun and SQLite.', [
    'version',
    'commit',
    'bun',
    'sqlite',
  ])
  const lastDone = gauge(
    'job_last_success_timestamp_seconds',
    'When each of the jobs last ended well; at first, when the program started.',
    ['job'],
  )

  const tell = (reading: Reading): void => {
    for (const teller of tellers) teller(reading)
    for (const [reason, count] of Object.entries(reading.disabledEndpoints)) disabled.set({ reason }, count)
    for (const [name, holds] of Object.entries(reading.conditions)) condition.set({ name }, Number(holds))
    const { version, commit, bunVersion } = program
    build.set({ version, commit, bun: bunVersion, sqlite: reading.sqliteVersion }, 1)
  }

  return {
    /** One tally per route and method, created once, when the routes are known. */
    route: requests.route,
    /** Events of secrets, by kind only. */
    tokens: {
      issued: byKind(registry, 'tokens_issued_total', 'Secrets handed out, by kind.'),
      refused: byKind(registry, 'tokens_refused_total', 'Secrets presented and refused, by kind.'),
      reused: byKind(registry, 'tokens_reused_total', 'Spent secrets presented again, by kind.'),
    },
    purged: byKind(registry, 'purged_rows_total', 'Expired rows deleted, by kind.'),
    /** A job has just succeeded. */
    jobDone: (job: string) => lastDone.setToCurrentTime({ job }),
    /** How long one sync of the write-ahead log took. */
    synced: (milliseconds: number) => syncs.observe(milliseconds),
    /** How late the event loop was. */
    late: (milliseconds: number) => lags.observe(milliseconds),
    /** All metrics in the Prometheus text format. */
    render: async (figures: Figures): Promise<string> => {
      const ofProcess = await readProcessFigures()
      const sockets = ofProcess.openSockets
      tell({ ...figures, ...ofProcess, openConnections: sockets === null ? null : Math.max(0, sockets - listeners) })
      return [
        requests.render(),
        syncs.text('database_sync_duration_seconds', 'Time that syncing the write-ahead log took.'),
        lags.text('event_loop_lag_seconds', 'How late the event loop was, measured ten times a second.'),
        await registry.metrics(),
      ].join('')
    },
    contentType: registry.contentType,
  }
}
