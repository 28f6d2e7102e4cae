// The periodic jobs of the server but for webhook deliveries (deliver-webhooks.ts). Each is a name, a period and an
// operation; server.ts hands them to the scheduler.

import { PlatformError } from '../domain/errors.ts'
import { type ConditionName, type JobName, readConditions } from '../operations/health/health.ts'
import type { MailFault } from '../domain/mail.ts'
import { tellRepeatedRefusals } from '../operations/audit/refusal-log.ts'
import { backUpDaily, type DailyBackups } from '../operations/backups/daily-backups.ts'
import { keepTime } from '../operations/clock.ts'
import { createConditionTeller } from '../operations/health/told-conditions.ts'
import { tellWaitingWork } from '../operations/mails/news.ts'
import { noticeMailTrouble, sendNextMail } from '../operations/mails/send-mails.ts'
import { localTrace, type Platform } from '../operations/platform.ts'
import { purgeAll, type PurgeKind } from '../operations/purge/purge.ts'
import { announceDeprecations } from '../operations/webhooks/deliveries.ts'
import { systemTime } from '../runtime/clock.ts'
import type { Mailer } from '../runtime/mailer.ts'
import { machineName } from '../runtime/program.ts'
import type { Log } from '../runtime/log.ts'
import type { Job } from './scheduler.ts'
import { tellBuilder } from '../operations/webhooks/builder-events.ts'

type PlatformJob = Job & { readonly name: JobName }

/** A pause between two batches of the purge lets all waiting requests run. */
const pauseMs = 20

/** A job that one of the servers which share a database does for all of them. */
const ofLeader = ({ database }: Platform, job: PlatformJob): PlatformJob => ({
  ...job,
  run: async (stopped) => {
    if (database.leads()) await job.run(() => stopped() || !database.leads())
  },
})

/** Removes expired rows once a minute, in small batches with pauses. */
export const purgeJob = (platform: Platform, purged: (kind: PurgeKind, rows: number) => void): PlatformJob =>
  ofLeader(platform, {
    name: 'purge',
    periodMs: 60_000,
    run: async (stopped) =>
      void (await purgeAll(platform, localTrace(platform), async () => await Bun.sleep(pauseMs), stopped, purged)),
  })

/** Sends the mails that are due, one after the other. */
export const sendMailsJob = (
  platform: Platform,
  mailer: Mailer,
  log: Log,
  lost: (fault: MailFault) => void,
): PlatformJob => ({
  name: 'send-mails',
  periodMs: 1_000,
  run: async (stopped) => {
    if (!platform.database.health().writable) return
    await noticeMailTrouble(platform, mailer)
    const givenUp: Parameters<typeof sendNextMail>[3] = ({ kind, fault, userId }) => {
      log.warn('mail.given_up', { kind, userId, reason: mailer.explain(fault) })
      lost(fault)
    }
    while (!stopped() && (await sendNextMail(platform, localTrace(platform), mailer, givenUp))) {
      await noticeMailTrouble(platform, mailer)
    }
  },
})

/** Tells operators by mail what has begun to wait for them, at most once an hour. */
export const tellWaitingWorkJob = (platform: Platform): PlatformJob =>
  ofLeader(platform, {
    name: 'tell-waiting-work',
    periodMs: 60_000,
    run: async () => {
      if (platform.database.health().writable) await tellWaitingWork(platform)
    },
  })

/** Announces deprecated versions of the contract within the hour, also to endpoints that were added since the last run. */
export const announceDeprecationsJob = (platform: Platform): PlatformJob =>
  ofLeader(platform, {
    name: 'announce-deprecations',
    periodMs: 3_600_000,
    run: async () => await announceDeprecations(platform, localTrace(platform)),
  })

/** Tells the builder's webhook endpoints what has happened, within a second. */
export const tellBuilderJob = (platform: Platform): PlatformJob =>
  ofLeader(platform, {
    name: 'tell-builder',
    periodMs: 1_000,
    run: async () => {
      if (platform.database.health().writable) await tellBuilder(platform)
    },
  })

/** Writes the audit rows of counted refusals soon after their minute has ended. */
export const tellRefusalsJob = (platform: Platform): PlatformJob => ({
  name: 'tell-refusals',
  periodMs: 20_000,
  run: async () => await tellRepeatedRefusals(platform, localTrace(platform), platform.clock.now()),
})

/** Writes the rows of all counted refusals when the server stops. */
export const tellAllRefusals = async (platform: Platform): Promise<void> =>
  await tellRepeatedRefusals(platform, localTrace(platform), Number.POSITIVE_INFINITY)

/**
 * Counts failures together with the other servers: what one has counted, all know within a second. A server that cannot reach
 * the database goes on with its own counts.
 */
export const shareLimitsJob = (share: () => Promise<void>): PlatformJob => ({
  name: 'share-limits',
  periodMs: 400,
  run: async () => {
    try {
      await share()
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'unavailable')) throw error
    }
  },
})

/** Makes the backup of the day when it is due, and notices whether one is missing. */
export const dailyBackupJob = (platform: Platform, dailyBackups: DailyBackups, log: Log): PlatformJob => {
  const startedAt = platform.clock.now()
  const failed = (problems: readonly string[]) => log.error('backup.failed', { reason: problems.join(' ') })
  return {
    name: 'daily-backup',
    periodMs: 5_000,
    run: async () => await backUpDaily({ ...platform, dailyBackups }, { startedAt, failed }),
  }
}

/** Stores the trusted time in the database once a minute, so that backups contain it. */
export const keepTimeJob = (platform: Platform): PlatformJob => ({
  name: 'keep-time',
  periodMs: 60_000,
  run: async () => await keepTime(platform),
})

/** Logs each condition once when it begins, with what to do about it, and once when it ends, and tells operators of it. */
export const watchConditionsJob = (platform: Platform, mailer: Mailer | null, log: Log): PlatformJob => {
  const teller = createConditionTeller(machineName(), mailer)
  let logged: ReadonlySet<ConditionName> = new Set()
  return {
    name: 'watch-conditions',
    periodMs: 1_000,
    run: async () => {
      const conditions = await readConditions(platform)
      for (const { name, sentence, endsReadiness } of conditions) {
        if (logged.has(name)) continue
        const fields = { kind: name, reason: sentence }
        if (endsReadiness) log.error('condition.began', fields)
        else log.warn('condition.began', fields)
      }
      const holding = new Set(conditions.map(({ name }) => name))
      for (const name of logged) if (!holding.has(name)) log.info('condition.ended', { kind: name })
      logged = holding
      await teller.look(platform, conditions, systemTime.monotonic())
    },
  }
}
