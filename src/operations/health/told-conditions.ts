import { PlatformError } from '../../domain/errors.ts'
import type { User } from '../../../db/database.ts'
import { isOfRecipient, writtenLetter } from '../../domain/mail.ts'
import type { Mailer } from '../../runtime/mailer.ts'
import { system } from '../audit/event.ts'
import { decide } from '../decide.ts'
import { conditionLetter } from '../mails/letters.ts'
import { localTrace, type Platform } from '../platform.ts'
import type { HeldCondition, ConditionName } from './health.ts'

/** How long a condition holds before it is told, and is gone before its end is told, in milliseconds. */
const settledMs = { began: 10_000, ended: 60_000 } as const

/** Conditions of the database, which all of its servers see. Only the one that leads tells them. */
const ofDatabase: ReadonlySet<ConditionName> = new Set([
  'settings_differ',
  'no_synchronous_standby',
  'several_standbys',
  'mail_fails',
  'mails_given_up',
  'backup_missing',
])

type Watched = { readonly beganAt: number; readonly sentence: string; isTold: boolean; goneAt: number | null }

type News = {
  readonly action: 'condition.began' | 'condition.ended'
  readonly name: ConditionName
  readonly sentence: string
  /** Whether the mail was sent without the store, which took no writes. */
  isMailed: boolean
}

/**
 * Tells operators when a condition begins and when it ends, once each: by an audit event, and by mail if there is a mail server. What
 * the store cannot take now is told later; the mail about it is then sent at once, without the outbox. `nowMs` is monotonic.
 */
export const createConditionTeller = (server: string, mailer: Pick<Mailer, 'send'> | null) => {
  const watched = new Map<ConditionName, Watched>()
  const untold: News[] = []

  const notice = (conditions: readonly HeldCondition[], leads: boolean, nowMs: number): void => {
    const seen = conditions.filter(({ name }) => leads || !ofDatabase.has(name))
    for (const { name, sentence } of seen) {
      const known = watched.get(name) ?? { beganAt: nowMs, sentence, isTold: false, goneAt: null }
      known.goneAt = null
      watched.set(name, known)
      if (known.isTold || nowMs - known.beganAt < settledMs.began) continue
      known.isTold = true
      untold.push({ action: 'condition.began', name, sentence, isMailed: false })
    }
    for (const [name, known] of watched) {
      if (seen.some((one) => one.name === name)) continue
      known.goneAt ??= nowMs
      const isOfOther = !leads && ofDatabase.has(name) // another server leads now, and tells the rest
      if (known.isTold && !isOfOther && nowMs - known.goneAt < settledMs.ended) continue
      watched.delete(name)
      if (known.isTold && !isOfOther) {
        untold.push({ action: 'condition.ended', name, sentence: known.sentence, isMailed: false })
      }
    }
  }

  const tell = async (platform: Platform, { action, name, sentence, isMailed }: News): Promise<void> =>
    await decide(platform, localTrace(platform), { actor: system }, async ({ record }) => {
      const detail = { condition: name, server, sentence }
      await record({ action, target: name, detail, ...(isMailed && { mail: null }) })
    })

  const mailNow = async (platform: Platform, news: News): Promise<void> => {
    if (mailer === null || news.isMailed) return
    const operators = await activeOperators(platform.database.queries) // again until they can be read
    news.isMailed = true // tried once: while the store takes no writes, nobody counts attempts
    const letter = writtenLetter(conditionLetter(platform, news.action, { ...news, server }))
    for (const { email } of operators) {
      const fault = await mailer.send({ to: email, ...letter })
      if (fault !== null && !isOfRecipient(fault)) return
    }
  }

  return {
    look: async (platform: Platform, conditions: readonly HeldCondition[], nowMs: number): Promise<void> => {
      notice(conditions, platform.database.leads(), nowMs)
      for (let news = untold[0]; news !== undefined; news = untold[0]) {
        try {
          await tell(platform, news)
          untold.shift()
        } catch (error) {
          await mailNow(platform, news).catch(() => undefined) // the store may not even be read; the log has told it
          if (!(error instanceof PlatformError)) throw error // such as of a damaged page
          return
        }
      }
    },
  }
}

/** More operators would be a mailing list. */
export const mostOperators = 50

/** The operators who can sign in. */
export const activeOperators = async ({ users }: Platform['database']['queries']): Promise<readonly User[]> => {
  const found = await Promise.all(
    (await users.activeOperators(mostOperators)).map(async ({ id }) => await users.byId(id)),
  )
  return found.filter((user) => user !== null)
}
