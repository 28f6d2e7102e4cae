// Mails about what people wait for. Everybody chooses which of them they get.

import type { AuditEvent, Credential, Mail, Queries } from '../../../db/database.ts'
import { recordIdOfTime } from '../../domain/identifier.ts'
import { type Letter, type MailTopic, mailTopics, type NewsKind, waitingToldMs } from '../../domain/mail.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { decide } from '../decide.ts'
import { unsentMail } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { countWaiting } from '../counts/counts.ts'

type Told = Pick<Letter, 'subject'> & { readonly says: string; readonly words: string; readonly path: string }

/** The letter of news, as they are now; null if what it is about is gone. */
export const newsLetter = async (
  platform: Pick<Platform, 'platformName' | 'publicUrl' | 'database'>,
  q: Queries,
  kind: NewsKind,
  { event, ending }: NewsSubject,
): Promise<Letter | null> => {
  const { platformName, publicUrl } = platform
  const told = await toldBy(q, kind, { event, ending })
  if (told === null) return null
  const { subject, says, words, path } = told
  return {
    subject: `${subject} at ${platformName}`,
    paragraphs: ['Hello,', says],
    link: { words, url: publicUrl + path },
    after: ['You choose which of these emails you get under Account, Emails.', `${platformName}, ${publicUrl}`],
  }
}

/** What news are about: an event of the audit log, or a secret in its grace period. */
export type NewsSubject = { readonly event: AuditEvent | null; readonly ending: EndingSecret | null }

const toldBy = async (q: Queries, kind: NewsKind, { event, ending }: NewsSubject): Promise<Told | null> => {
  if (kind === 'work_waits') return await waitingNow(q)
  if (kind === 'secret_ends') return ending === null ? null : endOf(ending)
  return event === null ? null : await newsOf(q, kind, event)
}

type EndingSecret = NonNullable<Awaited<ReturnType<typeof endingSecret>>>

/** The secret whose end the mail tells: it was replaced by the one with the digits of the mail, and still works. */
export const endingSecret = async (q: Queries, { id, kind }: Pick<Mail, 'id' | 'kind'>, now: number) => {
  const made =
    kind === 'secret_ends' ? await q.credentials.find(id.replace(/^eml_/, 'crd_').replace(/-\d+$/, '')) : null
  if (made === null) return null
  const { credential: replacement, environment } = made
  const app = await q.apps.byId(made.app.id)
  const live = await q.credentials.liveOfClient(replacement.clientId, now)
  const secret = live.find(({ id: other, expiresAt }) => expiresAt !== null && other < replacement.id)
  return app === null || secret === undefined ? null : { secret, replacement, environment, app }
}

const endOf = ({ secret, replacement, environment, app }: EndingSecret): Told => ({
  subject: 'Secret about to expire',
  says:
    `The old ${environment} secret of the app ${app.name}${namesOf(secret)} was replaced and stops working on ` +
    `${utc(secret.expiresAt ?? 0)}. ${useOf(secret, replacement)}`,
  words: 'See its secrets',
  path: `/console/${app.slug}/credentials?environment=${environment}`,
})

const namesOf = ({ label, hint }: Credential): string =>
  [label === null ? [] : [` “${label}”`], hint === null ? [] : [` that ends in ${hint}`]].flat().join('')

/** The last use is recorded by the minute. */
const useOf = ({ lastUsedAt }: Credential, { createdAt }: Credential): string =>
  lastUsedAt === null || lastUsedAt < createdAt
    ? 'Nothing has used it since.'
    : `It was last used on ${utc(lastUsedAt)}, after that: whatever still uses it needs the new secret before then.`

const utc = (ms: number): string => {
  const at = new Date(ms).toISOString()
  return `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`
}

const newsOf = async (
  q: Queries,
  kind: Exclude<NewsKind, 'work_waits' | 'secret_ends'>,
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
  await database.transaction(async (q) => {
    if (await isDue(q)) await q.mails.insert(unsentMail(id, 'work_waits', now))
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
