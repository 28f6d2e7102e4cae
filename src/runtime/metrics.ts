import { type MailFault, mailFaults } from '../domain/mail.ts'
import { type AttemptOutcome, attemptOutcomes } from '../domain/webhook-delivery.ts'
import { createRequestTally, escapedLabel, Histogram, prefixed } from './histogram.ts'
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
  /** Of SQLite, or of PostgreSQL. */
  readonly engineVersion: string
  /** Null if no mail server is set. */
  readonly mailsWaiting: number | null
  /** Positive when the machine's clock is behind the trusted time. */
  readonly clockOffsetSeconds: number
  /** Servers that share the database, and how far this machine's clock is ahead of the database's; null where there is one. */
  readonly nodes: number | null
  readonly databaseClockOffsetSeconds: number | null
  /** Whether this server does the work that one does for all. */
  readonly leads: boolean
  readonly purgeLagSeconds: number | null
  /** Null before the first backup. */
  readonly backupAgeSeconds: number | null
  readonly dueDeliveries: number | null
  /** By reason. */
  readonly disabledEndpoints: Readonly<Record<string, number>>
  /** Whether the last run did not end properly, as far as is known. */
  readonly startedUncleanly: boolean
  /** Whether each condition that needs a person holds, by name. */
  readonly conditions: Readonly<Record<string, boolean>>
}

export type Metrics = ReturnType<typeof createMetrics>

type Reading = Figures & ProcessFigures & { readonly openConnections: number | null }

/** The metrics without labels, which are read for each scrape. */
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
  database_clock_offset_seconds: [
    "The machine's clock minus that of PostgreSQL: beyond 30 the server is not ready.",
    (r) => r.databaseClockOffsetSeconds,
  ],
  nodes: ['Servers that share the database, heard in the last minute.', (r) => r.nodes],
  node_leads: ['1 on the server that purges for all, otherwise 0.', (r) => Number(r.leads)],
  purge_lag_seconds: ['How long the oldest expired row has waited for the purge.', (r) => r.purgeLagSeconds],
  mails_waiting: ['Mails that are not sent yet; counted up to 10000.', (r) => r.mailsWaiting],
  webhook_deliveries_due: ['Webhook deliveries whose time has come; counted up to 10000.', (r) => r.dueDeliveries],
  open_connections: ['Open connections: of clients, and to webhook endpoints.', (r) => r.openConnections],
  process_open_fds: ['Open file descriptors.', (r) => r.openDescriptors],
  process_max_fds: ['File descriptors that the process may have open.', (r) => r.maximumDescriptors],
  process_resident_memory_bytes: ['Resident memory.', () => process.memoryUsage.rss()],
  process_heap_bytes: ['Memory in use by JavaScript.', () => process.memoryUsage().heapUsed],
  process_cpu_seconds_total: ['Processor time, user and system.', () => cpuSeconds(process.cpuUsage())],
  unclean_start: ['1 if the run before this one did not end properly, otherwise 0.', (r) => Number(r.startedUncleanly)],
  process_uptime_seconds: ['Time since the start.', () => process.uptime()],
}

const cpuSeconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6

/** Every kind of secret that is counted. */
export const tokenKinds = [
  'client_secret',
  'app_token',
  'user_tokens',
  'authorization_code',
  'refresh_token',
  'session',
  /** Of a person: a password, a code or the word of an identity provider. It is refused here, and what it gives is a session. */
  'sign_in',
  'install_session_code',
  'embedded_session',
  'service_key',
  'unknown',
] as const
export type TokenKind = (typeof tokenKinds)[number]

/** Counts events by one label. Every value is there from the start with 0, because a rise from nothing is no rise for Prometheus. */
const createCounter = <Value extends string>(name: string, help: string, label: string, values: readonly Value[]) => {
  const counts = new Map<Value, number>(values.map((value) => [value, 0]))
  return {
    count: (value: Value, by = 1): void => void counts.set(value, (counts.get(value) ?? 0) + by),
    text: () => metricText(name, help, labelled(label, counts)),
  }
}

/** A metric in the Prometheus text format 0.0.4. Names that end in `_total` are counters, all others gauges. */
const metricText = (own: string, help: string, samples: readonly (readonly [labels: string, value: number])[]) => {
  const name = prefixed(own)
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
    '',
  ].join('\n')
}

const labelled = (label: string, values: Iterable<readonly [string, number]>) =>
  Array.from(values, ([text, value]) => [`{${label}="${escapedLabel(text)}"}`, value] as const)

/** From a tenth of a millisecond, a fast disk, to a second, which every caller notices. */
const latencyBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** `listeners`: the sockets that the program listens on, which do not count as connections. */
export const createMetrics = ({
  listeners = 1,
  purgedKinds = [],
}: { readonly listeners?: number; readonly purgedKinds?: readonly string[] } = {}) => {
  const requests = createRequestTally()
  const syncs = new Histogram(latencyBounds)
  const lags = new Histogram(latencyBounds)
  const issued = createCounter('tokens_issued_total', 'Secrets handed out, by kind.', 'kind', tokenKinds)
  const refused = createCounter('tokens_refused_total', 'Secrets presented and refused, by kind.', 'kind', tokenKinds)
  const reused = createCounter('tokens_reused_total', 'Spent secrets presented again, by kind.', 'kind', tokenKinds)
  const lostMails = createCounter<MailFault>(
    'mails_given_up_total',
    'Mails that are not tried again, by kind of fault.',
    'kind',
    mailFaults,
  )
  const purged = createCounter('purged_rows_total', 'Expired rows deleted, by kind.', 'kind', purgedKinds)
  const attempts = createCounter<AttemptOutcome>(
    'webhook_attempts_total',
    'Calls of webhook endpoints, by outcome.',
    'outcome',
    attemptOutcomes,
  )
  /** In epoch seconds. */
  const lastDone = new Map<string, number>()

  return {
    /** One tally per route and method, created once, when the routes are known. */
    route: requests.route,
    /** Events of secrets, by kind only. */
    tokens: { issued: issued.count, refused: refused.count, reused: reused.count },
    purged: purged.count,
    mailLost: lostMails.count,
    webhookTried: attempts.count,
    /** A job has just succeeded. */
    jobDone: (job: string) => void lastDone.set(job, Date.now() / 1000),
    /** The jobs of this server, and how many seconds ago each last succeeded. */
    jobs: () => Array.from(lastDone, ([job, at]) => ({ job, agoSeconds: Math.max(0, Date.now() / 1000 - at) })),
    /** How long one sync of the write-ahead log took. */
    synced: (milliseconds: number) => syncs.observe(milliseconds),
    /** How late the event loop was. */
    late: (milliseconds: number) => lags.observe(milliseconds),
    /** All metrics in the Prometheus text format. */
    render: async (figures: Figures): Promise<string> => {
      const ofProcess = await readProcessFigures()
      const sockets = ofProcess.openSockets
      const openConnections = sockets === null ? null : Math.max(0, sockets - listeners)
      const reading = { ...figures, ...ofProcess, openConnections }
      const conditions = Object.entries(figures.conditions).map(([name, holds]) => [name, Number(holds)] as const)
      const { version, commit, bunVersion } = program
      const engine = figures.nodes === null ? 'sqlite' : 'postgresql'
      const build = `{version="${version}",commit="${commit}",bun="${bunVersion}",${engine}="${figures.engineVersion}"}`
      const own = [
        ...Object.entries(readings).map(([name, [help, read]]) => {
          const value = read(reading)
          return metricText(name, help, value === null ? [] : [['', value]])
        }),
        metricText(
          'webhook_endpoints_disabled',
          'Webhook endpoints that are called no more, by reason.',
          labelled('reason', Object.entries(figures.disabledEndpoints)),
        ),
        metricText(
          'condition',
          '1 while a person has to do something, otherwise 0, by name.',
          labelled('name', conditions),
        ),
        metricText('build_info', 'Always 1: version and commit of the program, and versions of Bun and SQLite.', [
          [build, 1],
        ]),
        metricText(
          'job_last_success_timestamp_seconds',
          'When each of the background tasks last ended well; at first, when the program started.',
          labelled('task', lastDone),
        ),
        ...[issued, refused, reused, purged, lostMails, attempts].map(({ text }) => text()),
      ]
      return [
        requests.render(),
        syncs.text('database_sync_duration_seconds', 'Time that syncing the write-ahead log took.'),
        lags.text('event_loop_lag_seconds', 'How late the event loop was, measured ten times a second.'),
        own.join('\n'),
      ].join('')
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  }
}
