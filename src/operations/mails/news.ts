// Mails about what people wait for. Everybody chooses which of them they get.

import type { AuditEvent, Queries } from '../../../db/database.ts'
import { recordIdOfTime } from '../../domain/identifier.ts'
import { type Letter, type MailTopic, mailTopics, type NewsKind, waitingToldMs } from '../../domain/mail.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { decide } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { countWaiting } from '../waiting.ts'

type Told = Pick<Letter, 'subject'> & { readonly says: string; readonly words: string; readonly path: string }

/** The letter of news, as they are now; null if what it is about is gone. */
export const newsLetter = async (
  platform: Pick<Platform, 'platformName' | 'publicUrl' | 'database'>,
  q: Queries,
  kind: NewsKind,
  event: AuditEvent | null,
): Promise<Letter | null> => {
  const { platformName, publicUrl } = platform
  const told = kind === 'work_waits' ? await waitingNow(q) : event === null ? null : await newsOf(q, kind, event)
  if (told === null) return null
  const { subject, says, words, path } = told
  return {
    subject: `${subject} at ${platformName}`,
    paragraphs: ['Hello,', says],
    link: { words, url: publicUrl + path },
    after: ['You choose which of these emails you get under Account, Emails.', `${platformName}, ${publicUrl}`],
  }
}

const newsOf = async (
  q: Queries,
  kind: Exclude<NewsKind, 'work_waits'>,
  { action, appId, target }: AuditEvent,
): Promise<Told | null> => {
  const app = appId === null ? null : await q.apps.byId(appId)
  if (kind === 'endpoint_disabled') {
    const path = app === null ? `/desk/webhooks/${target}` : `/console/${app.slug}/webhooks/${target}`
    const whose = app === null ? 'A webhook endpoint of the builder' : `A webhook endpoint of the app ${app.name}`
    const says = `${whose} was disabled, because it has failed for too long or is gone. Events wait for it.`
    return { subject: 'Webhook endpoint disabled', says, words: 'See the endpoint', path }
  }
  if (app === null) return null
  if (kind === 'install_decided') {
    const what = action === 'install.approved' ? 'approved' : 'rejected'
    const says = `An operator has ${what} your install of the app ${app.name}.`
    return { subject: `Install ${what}`, says, words: 'See your installs', path: '/installs' }
  }
  const version = await q.versions.byId(app.id, target ?? '')
  if (version === null) return null
  const name = `version ${version.version} of the app ${app.name}`
  const at = encodeURIComponent(version.version)
  const words = 'See the version'
  const path = `/console/${app.slug}/versions/${at}`
  switch (kind) {
    case 'version_decided': {
      const what = action === 'version.approved' ? 'approved' : 'rejected'
      const then =
        what === 'rejected'
          ? 'Its page has the reasons.'
          : version.status === 'active'
            ? 'Users get it now.'
            : 'An operator makes it live later.'
      return { subject: `Version ${what}`, says: `An operator has ${what} ${name}. ${then}`, words, path }
    }
    case 'review_asked':
      return { subject: 'Question about a version', says: `An operator has a question about ${name}.`, words, path }
    case 'review_answered': {
      const says = `The developers have answered a question about ${name}.`
      return { subject: 'Answer about a version', says, words, path: `/desk/reviews/${app.slug}/${at}` }
    }
    default:
      return kind satisfies never
  }
}

const waitingNow = async (q: Queries): Promise<Told | null> => {
  const { reviews, installs } = await countWaiting({ database: { queries: q } })
  if (reviews + installs === 0) return null
  const says = `Waiting for an operator: ${counted(reviews, 'version')} to review and ${counted(installs, 'install')} to approve.`
  const path = reviews > 0 ? '/desk/reviews' : '/desk/installs'
  return { subject: 'Work is waiting', says, words: 'See what waits', path }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/**
 * Writes a mail to operators if something waits that was not there when they were told last, at most once an hour. The outbox itself
 * remembers when that was, so a restart tells nothing again; after seven days, what still waits is told again.
 */
export const tellWaitingWork = async ({ database, clock, random, mailer }: Platform): Promise<void> => {
  if (mailer === null) return
  const now = clock.now()
  const id = `eml_${random.uuidHex(now)}`
  const isDue = async (q: Queries): Promise<boolean> => {
    const last = (await q.mails.latestOfKind('work_waits')) ?? 0
    if (now - last < waitingToldMs) return false
    return (
      (await q.versions.queue('review', { since: last, id: '~' }, 1)).length > 0 ||
      (await q.installs.countPending(1, recordIdOfTime('ins_', last))) > 0
    )
  }
  if (!(await isDue(database.queries))) return
  const unsent = { state: 'pending', attempts: 0, nextAttemptAt: now, fault: null, createdAt: now } as const
  await database.transaction(async (q) => {
    if (await isDue(q)) await q.mails.insert({ id, kind: 'work_waits', userId: null, address: null, ...unsent })
  })
}

/** The topics that a person is told by mail. */
export const readMailTopics = async ({ database }: Platform, userId: string): Promise<readonly MailTopic[]> => {
  const muted = await database.queries.mutedMails.ofUser(userId)
  return mailTopics.filter((topic) => !muted.includes(topic))
}

/** A person chooses the topics. Those that are not among the offered ones stay as they are. */
export const chooseMailTopics = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  { chosen, offered }: { readonly chosen: readonly string[]; readonly offered: readonly MailTopic[] },
): Promise<void> =>
  await decide(platform, trace, { actor: actorOf(caller) }, async ({ q, record }) => {
    const { id } = caller.user
    const kept = (await q.mutedMails.ofUser(id)).filter((topic) => !offered.includes(topic))
    const muted = [...kept, ...offered.filter((topic) => !chosen.includes(topic))]
    await q.mutedMails.replace(id, muted)
    await record({ action: 'user.mails_chosen', target: id, detail: { muted } })
  })
