import { createHmac } from 'node:crypto'
import { type Database, DatabaseUnusable, otherDatabaseSentence } from '../db/database.ts'
import { checkServedDatabase, openDatabase } from '../db/engine.ts'
import type { CreateProgram } from './cli/operator-command.ts'
import { changedSecrets, type Config, ConfigError, givenSettings } from './config.ts'
import { sharedSettings } from './config/shared.ts'
import { PlatformError, refuse } from './domain/errors.ts'
import { recordId } from './domain/identifier.ts'
import { createApi } from './http/api.ts'
import type { Door } from './http/door.ts'
import { createRateLimiter } from './http/rate-limit.ts'
import { listen, startMetricsServer, startingShell } from './http/server.ts'
import { createShell } from './http/shell.ts'
import { createTurnstile } from './http/turnstile.ts'
import { createUploadSlots } from './http/upload-body.ts'
import { standardRefusal } from './http/standard-refusal.ts'
import {
  announceDeprecationsJob,
  dailyBackupJob,
  keepTimeJob,
  purgeJob,
  sendMailsJob,
  tellWaitingWorkJob,
  shareLimitsJob,
  tellAllRefusals,
  tellBuilderJob,
  tellRefusalsJob,
  watchConditionsJob,
} from './jobs/jobs.ts'
import { startWebhookWorker } from './jobs/deliver-webhooks.ts'
import { createSettingsReader, type Reread } from './jobs/read-settings.ts'
import { startScheduler } from './jobs/scheduler.ts'
import { system } from './operations/audit/event.ts'
import { createRefusalLog } from './operations/audit/refusal-log.ts'
import { createDailyBackups } from './operations/backups/daily-backups.ts'
import { keepingClock, keepTime, openClock, openRandom } from './operations/clock.ts'
import { isLocalDemo, keepSettings, openServerKey } from './operations/server-facts.ts'
import { readFigures, recordMigration } from './operations/health/health.ts'
import { decidingSettings } from './domain/deciding-settings.ts'
import { localTrace, type Platform } from './operations/platform.ts'
import { purgeKinds } from './operations/purge/purge.ts'
import { systemTime } from './runtime/clock.ts'
import { createLog, type Log } from './runtime/log.ts'
import { type LogWriter, standardErrorWriter } from './runtime/log-writer.ts'
import { createMailer } from './runtime/mailer.ts'
import { createMetrics } from './runtime/metrics.ts'
import { createIdentityProvider } from './runtime/identity-provider.ts'
import { createPasswords } from './runtime/passwords.ts'
import { createRandom } from './runtime/random.ts'
import { machineName, program } from './runtime/program.ts'
import { watchDescriptors, watchEventLoop } from './runtime/process-figures.ts'
import { openWebhookSender, type WebhookSender } from './runtime/webhook-sender.ts'

export type PlatformServer = Awaited<ReturnType<typeof startPlatformServer>>

/** Parts that the demo and the tests replace. */
type ServerParts = {
  readonly webhooks?: (usual: WebhookSender) => WebhookSender
  readonly logWriter?: LogWriter
  readonly passwordCost?: number
  /** True: pages of this server stand for the backends of the demo's apps. */
  readonly servesDemo?: boolean
  /** Makes the commands of operators, which service keys can run; null: none. */
  readonly createCommands?: CreateProgram | null
  /** Reads all settings again; null: they stay as they are. @throws ConfigError */
  readonly rereadConfig?: (() => Config) | null
  /** Resolves when the server is to end, also while it waits for its database. */
  readonly ended?: Promise<void>
}

/** Why the store failed, if that is what failed: which one, and what to do. */
const outageIn = (database: Database, cause: unknown): { readonly reason?: string } => {
  const fault = database.explain(cause)
  if (fault instanceof DatabaseUnusable) return { reason: fault.message }
  const isShort = cause instanceof PlatformError && cause.code === 'unavailable'
  return isShort
    ? { reason: 'The database took too long: if this repeats, see the conditions on the health page.' }
    : {}
}

/** The key of the hashes of limits. Servers that share a database have the same. */
const limitSecret = (key: Uint8Array): string => createHmac('sha256', key).update('limits').digest('hex')

const uncleanSentence =
  'The last server on this database did not end properly, as after a kill, a crash or a power cut: everything acknowledged is kept. Look for the cause with journalctl -u app-platform and dmesg.'

type Listener = ReturnType<typeof listen>

/** Takes the port, for a server that cannot serve yet. @throws what Bun throws when it cannot be taken */
const takePort = (config: Config, conditions: readonly string[], opened: AsyncDisposableStack): Listener => {
  const random = createRandom()
  const first = startingShell(() => recordId('req_', random.uuid(Date.now())), conditions)
  const listener = listen(config, first)
  opened.defer(listener.stop)
  return listener
}

/** How often a database that is out of reach is tried again. */
const retryMs = 1_000

/**
 * Opens the store. A PostgreSQL that is out of reach is waited for: it may start after this server, or fail over. Meanwhile the port is
 * taken, `/healthz` says that the process is alive, and everything else that it takes no calls.
 * @throws DatabaseUnusable for what does not pass by itself; StoppedWaiting once the caller says so
 */
const openPatiently = async (
  open: () => Promise<Database>,
  { config, log, ended }: { readonly config: Config; readonly log: Log; readonly ended: Promise<void> },
  opened: AsyncDisposableStack,
) => {
  let listener: Listener | null = null
  let told = ''
  let isEnded = false
  void ended.then(() => (isEnded = true))
  for (;;) {
    try {
      return { database: await open(), listener }
    } catch (error) {
      if (!(error instanceof DatabaseUnusable) || error.kind !== 'down') throw error
      if (error.message !== told) log.warn('database.awaited', { reason: error.message })
      log.flush()
      told = error.message
    }
    listener ??= takePort(config, ['database_unreachable'], opened)
    await Promise.race([Bun.sleep(retryMs), ended])
    if (isEnded) throw new StoppedWaiting()
  }
}

/** The server was told to end before it had a database. */
export class StoppedWaiting extends Error {}

/**
 * Composes the program: opens and migrates the store, takes the port, starts the jobs. This is the only place that knows
 * all parts. The port is taken before the program is composed, so that everything gets its public URL as a plain value. A start that
 * fails closes what it has opened: otherwise the process would stay, with a port on which nothing serves.
 * @throws DatabaseUnusable or PasswordsUnusable with a sentence for the operator
 */
export const startPlatformServer = async (
  config: Config,
  {
    webhooks = (usual) => usual,
    logWriter = standardErrorWriter(),
    passwordCost = 12,
    servesDemo = false,
    createCommands = null,
    rereadConfig = null,
    ended = new Promise<void>(() => undefined),
  }: ServerParts = {},
) => {
  await using opened = new AsyncDisposableStack()
  const log = createLog(logWriter, Date.now, { level: config.logLevel, requests: config.logRequests })
  const faulted = Promise.withResolvers<void>()
  const passwords = createPasswords({ cost: passwordCost })
  await passwords.load() // without bcrypt nobody could sign in
  const metrics = createMetrics({ listeners: config.metricsListen === null ? 1 : 2, purgedKinds: purgeKinds })
  let startedUncleanly = false
  const options = {
    role: 'server' as const,
    facts: { name: machineName(), version: program.version, settings: sharedSettings(config) },
    migrate: true,
    backupFolder: typeof config.backups === 'object' ? (config.backups?.directory ?? null) : null,
    isPatient: config.longestWaitMs === null,
    onSync: metrics.synced,
    onMigrated: (applied) =>
      log.info('database.migrated', { reason: `The schema was brought up to date: applied ${applied.join(', ')}.` }),
    onUncleanEnd: () => {
      startedUncleanly = true
      log.warn('server.recovers', { reason: uncleanSentence })
    },
    onFault: ({ reason, cause }) => {
      log.error('database.stopped', { reason, cause })
      log.flush()
      faulted.resolve()
    },
  } satisfies Parameters<typeof openDatabase>[1]
  const open = async () => await openDatabase(config.database, options)
  const store = await openPatiently(open, { config, log, ended }, opened)
  const { database } = store
  opened.defer(async () => await database.close().catch(() => undefined)) // what made the start fail is what is told
  const clock = await openClock(database)
  const random = await openRandom(database, clock)
  const serverKey = await openServerKey({ database, clock, random })
  const { cluster } = database
  const limiter = createRateLimiter({
    limits: config.rateLimits,
    monotonicMs: systemTime.monotonic,
    secret: limitSecret(cluster === null ? random.bytes(32) : serverKey),
    isShared: cluster !== null,
  })
  for (const reason of config.warnings) log.warn('config.warning', { reason })
  log.flush() // before the sentence of a start that is refused

  const { mail, platformName } = config
  const dailyBackups = config.backups === 'none' ? null : createDailyBackups(config.backups ?? { keep: null })
  const mailer = mail === null ? null : createMailer(mail, { platformName })
  const parts = {
    database,
    clock,
    random,
    passwords,
    ...decidingSettings(config),
    webhooks: webhooks(openWebhookSender(config.webhookNetworks, async () => await isLocalDemo(platform))),
    mailer,
    dailyBackups,
    observe: metrics.tokens,
    refusals: createRefusalLog(),
    running: new Set<string>(),
    node: {
      expectsStandby: config.expectsStandby,
      startedUncleanly: () => startedUncleanly,
      descriptors: watchDescriptors(systemTime.monotonic),
    },
  }
  const metricsServer =
    config.metricsListen === null
      ? null
      : startMetricsServer({
          ...config.metricsListen,
          contentType: metrics.contentType,
          render: async () => await metrics.render(await readFigures(parts)),
          failed: (cause) => log.error('metrics.failed', { cause }),
        })
  opened.defer(async () => await metricsServer?.stop())
  const identityProvider = config.identityProvider === null ? null : createIdentityProvider(config.identityProvider)
  const listener = store.listener ?? takePort(config, [], opened)
  const { url, publicUrl } = listener
  const platform: Platform = { ...parts, publicUrl }
  await recordMigration(platform, localTrace(platform), system)
  await keepSettings(database, givenSettings(config, new URL(url).port))
  let used = config
  /** All that has changed is used, or nothing. */
  const rereadSettings = async (): Promise<Reread> => {
    if (rereadConfig === null) return { changed: [] }
    try {
      const next = rereadConfig()
      const changed = changedSecrets(used, next)
      if (changed.includes('DATABASE_URL')) {
        const { renewPassword } = database
        const isPostgres = next.database.kind === 'postgres' && renewPassword !== null
        const refused = isPostgres ? await renewPassword(next.database.url) : otherDatabaseSentence
        if (refused !== null) return { refused }
      }
      if (next.mail !== null) mailer?.use(next.mail)
      if (next.identityProvider !== null) identityProvider?.useSecret(next.identityProvider.clientSecret)
      used = next
      return { changed }
    } catch (error) {
      if (error instanceof ConfigError) return { refused: error.faults.join(' ') }
      throw error
    }
  }
  const settingsReader = createSettingsReader(platform, log, rereadSettings)
  const checkStore = async () => await checkServedDatabase(used.database)
  let runner: Door['runCommand'] | null = null
  const door: Door = {
    platform,
    serverKey,
    limiter,
    log,
    metrics,
    servesMetrics: metricsServer === null,
    servesDemo,
    draining: listener.draining,
    isDrainingForProxy: listener.isDrainingForProxy,
    signingIn: new Map(),
    delayed: new Map(),
    identityProvider,
    uploadSlots: createUploadSlots(),
    settings: config.settings,
    runCommand: async (...call) => {
      if (createCommands === null) throw refuse('unavailable')
      const { commandRunner } = await import('./cli/served-commands.ts') // most servers run none
      runner ??= commandRunner({ create: createCommands, checkStore })
      return await runner(...call)
    },
    sleep: Bun.sleep,
  }
  listener.serve(
    createShell({
      ...createApi(door, standardRefusal),
      loadPages: async () => (await import('./pages/pages.ts')).servePages(door),
      publicUrl,
      draining: listener.draining,
      trustedProxies: config.trustedProxies,
      standardRefusal,
      clock: keepingClock(clock, database),
      random,
      log,
      metrics,
      limiter,
      turnstile: createTurnstile({ longestWaitMs: config.longestWaitMs, monotonicMs: systemTime.monotonic }),
    }),
  )
  const watchConditions = watchConditionsJob(platform, mailer, log)
  await watchConditions.run(() => false)
  const jobs = [
    purgeJob(platform, metrics.purged),
    keepTimeJob(platform),
    announceDeprecationsJob(platform),
    tellBuilderJob(platform),
    tellRefusalsJob(platform),
    watchConditions,
    ...(dailyBackups === null ? [] : [dailyBackupJob(platform, dailyBackups, log)]),
    ...(mailer === null ? [] : [sendMailsJob(platform, mailer, log, metrics.mailLost), tellWaitingWorkJob(platform)]),
    ...(cluster === null ? [] : [shareLimitsJob(async () => await limiter.share(cluster.mergeLimits))]),
  ]
  const failed = (job: string, cause: unknown) => log.error('job.failed', { job, cause, ...outageIn(database, cause) })
  for (const job of [...jobs.map(({ name }) => name), 'webhooks']) metrics.jobDone(job)
  const scheduler = startScheduler(jobs, { chance: Math.random, done: metrics.jobDone, failed })
  const webhookWorker = startWebhookWorker(platform, {
    done: () => metrics.jobDone('webhooks'),
    tried: metrics.webhookTried,
    failed: (cause) => log.error('webhook.failed', { cause, ...outageIn(database, cause) }),
  })
  const endWatching = watchEventLoop(metrics.late, systemTime.monotonic)
  log.info('server.listening', { port: Number(new URL(url).port) })
  opened.move() // from now on `stop` closes it

  return {
    /** Where it listens. */
    url,
    publicUrl,
    /** Where the metrics are served when they have a port of their own. */
    metricsUrl: metricsServer === null ? null : `${metricsServer.url}/metrics`,
    platform,
    /** Resolves when the store has stopped taking writes for good: only a restart recovers it. */
    faulted: faulted.promise,
    /** Reads the settings in files again; what has changed is used from then on. Resolves before that. */
    readSettingsAgain: settingsReader.readAgain,
    /** Drains, stops the jobs and closes the store. False when the store had stopped taking writes. */
    stop: async (): Promise<boolean> => {
      await Promise.all([listener.stop(), settingsReader.stop()])
      await metricsServer?.stop()
      endWatching()
      await Promise.all([scheduler.stop(), webhookWorker.stop()])
      const health = database.health()
      // When another process holds the lock, the last writes are still worth a try.
      const writable = health.writable || health.problem === 'locked'
      if (writable) await tellAllRefusals(platform).catch((cause: unknown) => failed('tell-refusals', cause))
      if (writable) await keepTime(platform).catch((cause: unknown) => failed('keep-time', cause))
      await database.close()
      log.info('server.stopped')
      log.flush()
      return writable
    },
  }
}
