import type { Sharing, StoreProblem } from '../../../db/database.ts'
import { clockFault, clockOffsetMs } from '../clock.ts'
import type { Actor } from '../audit/event.ts'
import type { Observed, OwnNode, Platform, Trace } from '../platform.ts'
import { uuidTimeOfKey } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { timeOfKey } from '../../domain/time-key.ts'
import type { Figures } from '../../runtime/metrics.ts'
import { decide, type Operation } from '../decide.ts'

/** Every problem of the server that a person has to solve. These names are labels of metrics and fields of the log. */
export const conditionNames = [
  'storage_failed',
  'disk_full',
  'database_locked',
  'writes_refused',
  'database_unreachable',
  'too_few_connections',
  'too_few_descriptors',
  'clock_ahead',
  'clock_wrong',
  'clock_differs',
  'settings_differ',
  'no_synchronous_standby',
  'several_standbys',
  'mail_fails',
  'mails_given_up',
  'backup_failed',
  'backup_missing',
] as const
export type ConditionName = (typeof conditionNames)[number]

export type HeldCondition = {
  readonly name: ConditionName
  /** What is wrong and what to do about it. */
  readonly sentence: string
  /** Whether `/readyz` fails. */
  readonly endsReadiness: boolean
}

/**
 * The conditions that hold now. Readiness, metrics, log and health page all use this function, so that they agree. It must
 * be cheap and must not fail, even when the store has failed.
 */
export const readConditions = async (platform: Observed): Promise<readonly HeldCondition[]> => {
  const { database, clock, mailer, dailyBackups, node } = platform
  const ofStore = storeCondition(platform)
  // A clock that differs from that of PostgreSQL is one problem, whatever it is ahead of.
  const ofClock = ofStore?.name === 'clock_wrong' ? null : held('clock_ahead', clockFault(clock), true)
  const sharing = database.sharing()
  const trouble = dailyBackups?.trouble()
  return [
    ofStore,
    ofClock,
    ...(sharing === null ? [] : sharingConditions(sharing, node)),
    held('too_few_descriptors', descriptorSentence(node)),
    held('mail_fails', mailer?.trouble() ?? null),
    held('mails_given_up', lostMailsSentence(mailer?.givenUp() ?? 0)),
    held(trouble?.name ?? 'backup_failed', trouble?.sentence ?? null),
  ].filter((condition) => condition !== null)
}

/** What does not keep this server from answering, unless `endsReadiness`. Null without a sentence. */
const held = (name: ConditionName, sentence: string | null, endsReadiness = false): HeldCondition | null =>
  sentence === null ? null : { name, sentence, endsReadiness }

const nameOf = {
  failed: 'storage_failed',
  full: 'disk_full',
  locked: 'database_locked',
  refused: 'writes_refused',
  unreachable: 'database_unreachable',
  connections: 'too_few_connections',
  clock: 'clock_wrong',
} as const satisfies Record<StoreProblem, ConditionName>

const storeCondition = ({ database }: Observed): HeldCondition | null => {
  const { problem, reason } = database.health()
  return problem === null ? null : held(nameOf[problem], reason, true)
}

/** From this share on: once none is free, new connections wait, and nobody can ask. */
const fewDescriptorsShare = 0.9

const descriptorSentence = ({ descriptors }: OwnNode): string | null => {
  const use = descriptors()
  return use === null || use.open < use.most * fewDescriptorsShare
    ? null
    : `The server has ${use.open} files and connections open, and may have ${use.most}: raise LimitNOFILE of its service, and see who holds so many connections with ss -tnp.`
}

const lostMailsSentence = (count: number): string | null =>
  count === 0
    ? null
    : `${count === 1 ? 'A mail' : `${count} mails`} of the last two days could not be delivered: the audit log names the people and the reasons (mail.given_up). Correct the addresses, or send new links.`

/** How far clocks may differ without a warning. Beyond 30 s, the store takes no writes, and says so (`clock_wrong`). */
const toleratedMs = 2_000
const longestWarnedMs = 30_000

/** What is probably a mistake. Without any connection the store takes no writes; with too few the server goes on. */
const sharingConditions = (sharing: Sharing, { expectsStandby }: OwnNode): readonly (HeldCondition | null)[] => {
  const { shortage, hasSynchronousStandby, hasSpareStandby, hosts } = sharing
  // One host alone is a decision, several are there for a failover: unless EXPECT_STANDBY says so, only these need a standby.
  const lacksStandby = !hasSynchronousStandby && (expectsStandby ?? hosts > 1)
  return [
    held('too_few_connections', shortage),
    held('no_synchronous_standby', lacksStandby ? noStandbySentence : null),
    held('several_standbys', hasSpareStandby ? severalSentence : null),
    held('settings_differ', settingsSentence(sharing)),
    held('clock_differs', offsetSentence(sharing)),
  ]
}

const noStandbySentence =
  'PostgreSQL has no synchronous standby, so a failover, or the loss of its disk, loses the latest changes, revocations among them: ' +
  'add a standby as app-platform help high-availability shows, or set EXPECT_STANDBY=off and run app-platform recover --accept-loss after each such loss.'

const severalSentence =
  'PostgreSQL has more standbys than its commits wait for, so after a promotion an old primary that still runs could go on with another one: ' +
  "stop the old primary before each promotion, or let commits wait for all standbys, as by synchronous_standby_names = 'FIRST 2 (one, two)'."

const settingsSentence = ({ nodes }: Sharing): string | null => {
  const differing = nodes.filter(({ differs }) => differs.length > 0)
  if (differing.length === 0) return null
  const settings = [...new Set(differing.flatMap(({ differs }) => differs))].join(', ')
  const where = differing.map(({ name, number }) => `${name} (server ${number})`).join(', ')
  return `The settings of this server and of ${where} differ in ${settings}: set the same values and run systemctl restart app-platform on each.`
}

const offsetSentence = ({ clockOffsetMs }: Sharing): string | null => {
  const differenceMs = Math.abs(clockOffsetMs)
  if (differenceMs <= toleratedMs || differenceMs > longestWarnedMs) return null
  const seconds = (differenceMs / 1000).toFixed(1)
  return `The clock of this machine is ${seconds} s ${clockOffsetMs > 0 ? 'ahead of' : 'behind'} that of PostgreSQL: set both right, such as by timedatectl set-ntp true.`
}

/** Due deliveries and waiting mails are counted up to this number. */
const mostDeliveries = 10_000

/** Reads the figures of the metrics. Each is cheap, however large the store is. A figure that cannot be read is null. */
export const readFigures = async (platform: Observed): Promise<Figures> => {
  const { database, clock, mailer } = platform
  const q = database.queries
  const now = clock.now()
  const holding = new Set((await readConditions(platform)).map(({ name }) => name))
  const disabled = await known(q.webhookEndpoints.countDisabled())
  const sharing = database.sharing()
  return {
    ...database.statistics(),
    nodes: sharing?.nodes.length ?? null,
    leads: database.leads(),
    databaseClockOffsetSeconds: sharing === null ? null : sharing.clockOffsetMs / 1000,
    engineVersion: (await known(q.health.engineVersion())) ?? '',
    clockOffsetSeconds: clockOffsetMs(clock) / 1000,
    purgeLagSeconds: await known(purgeLagSeconds(platform)),
    backupAgeSeconds: await known(backupAgeSeconds(platform)),
    dueDeliveries: await known(q.webhookEndpoints.countDue(now, mostDeliveries)),
    mailsWaiting: mailer === null ? null : await known(q.mails.countWaiting(now, mostDeliveries)),
    startedUncleanly: platform.node.startedUncleanly(),
    disabledEndpoints: disabled ?? {},
    conditions: Object.fromEntries(conditionNames.map((name) => [name, holding.has(name)])),
  }
}

/** Metrics must be served even when the store has failed and answers nothing. */
const known = async <T>(asked: Promise<T>): Promise<T | null> => await asked.catch(() => null)

/** What the health page shows: the figures of the metrics and further counts. */
export type PlatformHealth = Awaited<ReturnType<typeof readHealth>>

/** A count reads up to this many rows, which takes some milliseconds even when there are millions. */
const mostRows = 10_000

/** Reads what the health page shows. Every read is bounded. */
export const readHealth = async (platform: Platform) => {
  const { database, clock } = platform
  const q = database.queries
  const now = clock.now()
  return {
    ...(await readFigures(platform)),
    /** The servers that share the database; empty where there is one. */
    sharedBy: database.sharing()?.nodes ?? [],
    /** Problems that a person has to solve. */
    conditions: await readConditions(platform),
    live: {
      appTokens: await q.health.liveAppTokens(now, mostRows),
      sessions: await q.health.liveSessions(now, mostRows, now - platform.lifetimes.sessionIdle * 1000),
      grants: await q.health.liveGrants(now, mostRows),
    },
    /** The stored files of all apps, including those that no version uses any more, and the limit of one app. */
    artifacts: { ...(await q.artifacts.totals()), allowedBytesPerApp: platform.quotas.artifactBytes },
    /** Epoch milliseconds of the last restore from a backup; null when there was none. */
    restoredAt: await q.watermarks.find('restored'),
  }
}

/** How long ago the last backup was made, in whole seconds; null when there is none. */
const backupAgeSeconds = async ({ database, clock }: Pick<Observed, 'database' | 'clock'>): Promise<number | null> => {
  const at = await database.queries.watermarks.find('backed_up')
  return at === null ? null : Math.max(0, Math.floor((clock.now() - at) / 1000))
}

/** Stores when the last backup was made, for the health page and the metrics, and who made it. */
export const recordBackup: Operation<number, void> = async (platform, trace, actor, sizeBytes) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    await q.watermarks.set('backed_up', now)
    await record({ action: 'database.backed_up', detail: { sizeBytes } })
  })

/**
 * Makes one audit event of the steps that have brought the schema up to date since the last one. Whatever keeps it from being written now,
 * such as a full disk, keeps nothing else: the next opening writes it.
 */
export const recordMigration = async (platform: Platform, trace: Trace, actor: Actor): Promise<void> => {
  if ((await platform.database.queries.watermarks.find('migrated_to')) === null) return
  await decide(platform, trace, { actor }, async ({ q, record }) => {
    const from = await q.watermarks.take('migrated_from')
    const to = await q.watermarks.take('migrated_to')
    if (from !== null && to !== null) await record({ action: 'database.migrated', detail: { from, to } })
  }).catch(() => undefined)
}

/**
 * For how many whole seconds the oldest expired app token or session has been waiting for the purge; 0 when the purge is
 * up to date. Reads two keys.
 */
export const purgeLagSeconds = async (platform: Pick<Observed, 'database' | 'clock'>): Promise<number> => {
  const q = platform.database.queries
  const now = platform.clock.purgeBefore()
  const overdue = (issuedAt: number, lifetimeSeconds: number) =>
    Math.max(0, Math.floor((now - issuedAt) / 1000) - lifetimeSeconds)
  const [token, session] = [await q.appTokens.oldestKey(), await q.sessions.oldestKey()]
  return Math.max(
    overdue(token === null ? now : timeOfKey(token), maximumLifetimes.appToken),
    overdue(session === null ? now : uuidTimeOfKey(session), maximumLifetimes.session),
  )
}

/** Sorting more would stop other requests for too long: 10,000 versions take about 40 ms. */
const mostVersions = 10_000
const mostApps = 5_000

/** Reads the `rows` apps and accounts that use most; null where there are too many to sort. */
export const readQuotaUse = async ({ database: { queries: q }, quotas }: Platform, rows: number) => ({
  quotas,
  artifactsOfApps: await q.artifacts.largestUses(rows, mostVersions),
  appsOfAccounts: await q.apps.ownersOfMost(rows, mostApps),
  /** All stored files, including those that no version uses any more. */
  stored: await q.artifacts.totals(),
})

/** What each job of the server does, by its name. */
const words = {
  purge: 'Removes expired rows, once a minute',
  'keep-time': 'Stores the trusted time, once a minute',
  'announce-deprecations': 'Announces deprecated API versions, once an hour',
  'tell-builder': 'Tells the endpoints of the builder what has happened',
  'tell-waiting-work': 'Mails operators what waits for them',
  'tell-refusals': 'Adds repeated refusals to the audit log',
  'watch-conditions': 'Looks for problems that an operator has to solve',
  'share-limits': 'Shares rate limits with the other servers',
  'send-mails': 'Sends mails',
  'daily-backup': 'Makes the backup of the day',
  webhooks: 'Delivers webhooks',
} as const
export type JobName = keyof typeof words

const isJobName = (name: string): name is JobName => name in words

export const wordsOfJob = (name: string): string => (isJobName(name) ? words[name] : name)
