import type { AuditEvent, Mail, User } from '../../../db/database.ts'
import {
  askedLinkPauseMs,
  givenUpToldMs,
  isNews,
  isOfRecipient,
  isOperatorMail,
  type Letter,
  linkMails,
  type MailFault,
  type MailKind,
  mostAskedLinks,
  mostMailAttempts,
  pauseAfterMail,
  type NewsKind,
  teamMails,
  topicOf,
  unknownEndMs,
  writtenLetter,
} from '../../domain/mail.ts'
import { hasRight, rightOverSecrets } from '../../domain/member.ts'
import { emailLinkPath, noPassword, passwordLinkPath } from '../../domain/password.ts'
import { secretDigits } from '../../domain/secret.ts'
import { mayUsePassword } from '../../domain/sign-in-rules.ts'
import type { Mailer, OutgoingMail } from '../../runtime/mailer.ts'
import { system, unsentMail } from '../audit/event.ts'
import { decide, type OpenChange } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { invitationToMail } from '../apps/members.ts'
import { findUser } from '../users/find-user.ts'
import { mintLink, type MintedLink } from '../users/passwords.ts'
import { activeOperators, mostOperators } from '../health/told-conditions.ts'
import { storedJson } from '../stored-json.ts'
import { conditionLetter, invitationLetter, letterOf } from './letters.ts'
import { endingSecret, newsLetter, type NewsSubject } from './news.ts'

/** A mail that will not be tried again, and why. */
type GivenUp = { readonly kind: MailKind; readonly fault: MailFault; readonly userId: string | null }

/**
 * Sends the mail that has been due longest; false if none is due. An attempt is counted before it is made: of several servers one
 * makes it, and after a crash the mail is sent again after the pause. A mail that is given up leaves an audit event.
 */
export const sendNextMail = async (
  platform: Platform,
  trace: Trace,
  mailer: Mailer,
  givenUp: (mail: GivenUp) => void = () => undefined,
): Promise<boolean> => {
  const now = platform.clock.now()
  const due = await platform.database.queries.mails.nextDue(now)
  if (due === null) return false
  const link = mintLink(platform, now, due.kind === 'email_asked' ? emailLinkPath : passwordLinkPath)
  const digits = platform.random.digits(secretDigits)
  const mail = await decide(
    platform,
    trace,
    { actor: system, now },
    async (change) => await prepareMail(platform, change, due, { link, digits }),
  )
  if (mail === null) return true
  const fault = await mailer.send({ id: due.id, ...mail })
  const attempts = due.attempts + 1
  const attempted = { ...due, attempts }
  const lost = await decide(platform, trace, { actor: system }, async (change) => {
    const { q, now: at } = change
    // After a time-out the mail may have arrived all the same.
    if (fault !== null && fault !== 'timed_out') await q.passwordLinks.use(link.id, at)
    if (fault === null) return void (await q.mails.settle(attempted, 'sent', null))
    if (fault === 'recipient' || attempts >= mostMailAttempts) return await giveUp(change, attempted, fault)
    return void (await q.mails.noteFault(attempted, fault, at + pauseAfterMail(attempts)))
  })
  if (lost) givenUp(lost)
  return true
}

const giveUp = async ({ q, record }: OpenChange, mail: Mail, fault: MailFault): Promise<GivenUp | undefined> => {
  if (!(await q.mails.settle(mail, 'failed', fault))) return undefined // another server has settled it
  const { kind, attempts } = mail
  const userId = (await q.mails.find(mail.id))?.userId ?? null
  await record({
    action: 'mail.given_up',
    detail: { kind, fault, attempts },
    ...(userId !== null && { target: userId }),
  })
  return { kind, fault, userId }
}

/** Reads from the store why mails are not sent, for `readConditions`: another server may have tried last. */
export const noticeMailTrouble = async ({ database, clock }: Pick<Platform, 'database' | 'clock'>, mailer: Mailer) => {
  const { mails } = database.queries
  const faults = await mails.latestFaults(lookedAt)
  const givenUp = await mails.countGivenUp(clock.now() - givenUpToldMs)
  mailer.notice({ fault: faults.find((fault) => !isOfRecipient(fault)) ?? null, givenUp })
}

/** Of the waiting mails. Those that have failed most often are first. */
const lookedAt = 20

/** For a link of the mail: to set a password or confirm an address, and the digits of one of another kind. */
type Minted = { readonly link: MintedLink; readonly digits: string }

/** Counts the attempt, and stores the hash of the link. Null if there is nothing to send. */
const prepareMail = async (platform: Platform, change: OpenChange, mail: Mail, { link, digits }: Minted) => {
  const { q, now, record } = change
  const { kind } = mail
  if (mail.attempts >= mostMailAttempts) {
    await giveUp(change, mail, mail.fault ?? 'timed_out') // a crash kept the last attempt from being settled
    return null
  }
  if (kind === 'app_invitation') return await prepareInvitation(platform, change, mail, digits)
  if (isOperatorMail(kind)) return await prepareNotice(platform, change, mail)
  if (isNews(kind)) return await prepareNews(platform, change, mail, kind)
  const user = await recipientOf(platform, change, mail)
  const event = await q.audit.byId(eventIdOf(mail))
  const team = await teamOf(change, mail, event)
  if (user === null || (isShare(mail) && team.every(({ id }) => id !== user.id))) {
    return await drop(change, mail, mail.attempts)
  }
  if (!(await q.mails.begin(mail, user.id, now + unknownEndMs))) return null
  if (!isShare(mail) && mail.attempts === 0) {
    await writeShares(
      change,
      mail,
      team.filter(({ id, email }) => id !== user.id && email !== mail.address),
    )
  }
  if (linkMails.includes(mail.kind)) {
    await q.passwordLinks.insert(link.rowFor(user.id, mail.kind === 'email_asked' ? mail.address : null))
  }
  if (mail.kind === 'reset_asked') await record({ action: 'user.reset_link_mailed', target: user.id })
  const to = mail.kind === 'reset_asked' ? user.email : (mail.address ?? user.email)
  return { to, ...writtenLetter(await letterOf(platform, change, kind, user, event, link.link)) }
}

const writeShares = async ({ q, now }: OpenChange, mail: Mail, others: readonly Reader[]): Promise<void> => {
  for (const [place, { id, email }] of others.entries()) {
    const share = unsentMail(`${mail.id}-${place + 1}`, mail.kind, mail.createdAt, now)
    await q.mails.insert({ ...share, userId: id, address: email })
  }
}

/** Somebody whom a mail is for. */
type Reader = Pick<User, 'id' | 'email'>

const isShare = ({ id }: Pick<Mail, 'id'>): boolean => id.includes('-')

/** The same for an invitation to an app. The person of the address may have no account. */
const prepareInvitation = async (platform: Platform, change: OpenChange, mail: Mail, digits: string) => {
  const { q, now } = change
  const person = await findUser(q, mail.address ?? '')
  if (!(await q.mails.begin(mail, person?.id ?? null, now + unknownEndMs))) return null
  const id = (await q.audit.byId(eventIdOf(mail)))?.target ?? ''
  const offer = await invitationToMail(platform, change, id, digits)
  if (offer === null) return await drop(change, mail, mail.attempts + 1)
  return { to: offer.row.email, ...writtenLetter(invitationLetter(platform, offer)) }
}

/** The same for what all operators are told. */
const prepareNotice = async (platform: Platform, change: OpenChange, mail: Mail): Promise<OutgoingMail | null> => {
  const event = await change.q.audit.byId(eventIdOf(mail))
  const facts: Readonly<Record<string, string>> = storedJson(event?.detail ?? '{}')
  const { condition: name = '', server = '', sentence = '' } = facts
  const letter = event === null ? null : conditionLetter(platform, event.action, { name, server, sentence })
  return await prepareShared(change, mail, await activeOperators(change.q), letter)
}

/** The same for news, which go to those who want them. */
const prepareNews = async (platform: Platform, change: OpenChange, mail: Mail, kind: NewsKind) => {
  const { q, now } = change
  const about = { event: await q.audit.byId(eventIdOf(mail)), ending: await endingSecret(q, mail, now) }
  const readers = await readersOf(q, kind, about, mail.userId)
  const letter = readers.length === 0 ? null : await newsLetter(platform, q, kind, about)
  return await prepareShared(change, mail, readers, letter)
}

/**
 * A mail to several is one row of the outbox for each of them, so that each is tried, given up and shown by itself: a mail server may
 * take it for some only. The first attempt writes the rows of the others. The letter is null if what it is about is gone.
 */
const prepareShared = async (change: OpenChange, mail: Mail, readers: readonly Reader[], letter: Letter | null) => {
  const { q, now } = change
  const isFirst = mail.attempts === 0 && !isShare(mail)
  const own = (isFirst ? readers[0] : readers.find(({ id }) => id === mail.userId)) ?? null
  if (!(await q.mails.begin(mail, own?.id ?? null, now + unknownEndMs))) return null
  if (own === null || letter === null) return await drop(change, mail, mail.attempts + 1)
  if (isFirst) await writeShares(change, mail, readers.slice(1))
  return { to: own.email, ...writtenLetter(letter) }
}

/** Nobody gets it any more. */
const drop = async ({ q }: OpenChange, { id, fault }: Mail, attempts: number): Promise<null> => {
  await q.mails.settle({ id, attempts }, 'dropped', fault)
  return null
}

/** The active people who may know it, and want to be told. */
const readersOf = async (q: OpenChange['q'], kind: NewsKind, { event, ending }: NewsSubject, userId: string | null) => {
  const ids = async (): Promise<readonly string[]> => {
    if (kind === 'install_decided') return userId === null ? [] : [userId]
    const appId = ending?.app.id ?? event?.appId ?? null
    if (topicOf(kind) === 'waiting' || (appId === null && kind === 'endpoint_disabled')) {
      return (await q.users.activeOperators(mostOperators)).map(({ id }) => id)
    }
    const app = appId === null ? null : await q.apps.byId(appId)
    if (app === null || app.deletedAt !== null) return []
    const right =
      ending !== null ? rightOverSecrets(ending.environment) : kind === 'endpoint_disabled' ? 'webhooks' : 'release'
    const members = (await q.appMembers.ofApp(app.id)).filter(({ role }) => hasRight(role, right))
    return [app.ownerId, ...members.map((member) => member.userId)]
  }
  const readers: Reader[] = []
  for (const id of new Set(await ids())) {
    const user = await q.users.byId(id)
    if (user?.status !== 'active' || (await q.mutedMails.ofUser(id)).includes(topicOf(kind))) continue
    readers.push(user)
  }
  return readers
}

/** Those in the team of an app who are told of this as its publisher is. */
const teamOf = async ({ q }: OpenChange, { kind }: Mail, event: AuditEvent | null): Promise<readonly Reader[]> => {
  const right = teamMails[kind]
  if (right === undefined) return []
  return (await q.appMembers.ofApp(event?.appId ?? '')).flatMap(({ userId, email, role, status }) =>
    status === 'active' && hasRight(role, right) ? [{ id: userId, email }] : [],
  )
}

/** The audit event that a mail tells; that of a mail that somebody asked for has none. */
const eventIdOf = ({ id }: Mail): string => id.replace(/^eml_/, 'aud_').replace(/-\d+$/, '')

/** Who gets the mail; null if nobody does any more. */
const recipientOf = async ({ signIn }: Platform, change: OpenChange, mail: Mail): Promise<User | null> => {
  const { q } = change
  const id = mail.userId ?? (await findUser(q, mail.address ?? ''))?.id
  const user = id === undefined ? null : await q.users.byId(id) // locked, so that a link that ends meanwhile stays ended
  if (user?.status !== 'active') return null
  if (mail.kind === 'email_asked') {
    return mail.address === null || (await q.users.byEmail(mail.address)) !== null ? null : user
  }
  if (linkMails.includes(mail.kind) && !mayUsePassword(signIn, user.isOperator)) return null
  if (mail.kind === 'new_device') return (await isFamiliar(change, user, mail)) ? null : user
  if (mail.kind === 'invitation') return user.passwordHash === noPassword ? user : null
  const isAsked = mail.kind === 'reset_asked' && mail.attempts === 0
  return isAsked && !(await mayHaveLink(change, user)) ? null : user
}

/** Whether an earlier session has the same browser name and address: programs that sign in keep no cookies. */
const isFamiliar = async ({ q }: OpenChange, { id }: User, mail: Mail): Promise<boolean> => {
  const key = (await q.audit.byId(eventIdOf(mail)))?.target
  const sessions = await q.personal.rows('sessions', id)
  const own = sessions.find((session) => session.key === key)
  return sessions.some(
    ({ key: other, address, agent }) =>
      own !== undefined && other < own.key && address === own.address && agent === own.agent,
  )
}

/**
 * Whether somebody who asked for a link gets one by mail. Not those who sign in through another service only, nor operators whom a
 * recovery has suspended. Those who have some links already use the newest one: nobody can flood a mailbox.
 */
const mayHaveLink = async ({ q, now }: OpenChange, user: User): Promise<boolean> => {
  if (user.suspendedAt !== null) return false
  const comesFromElsewhere = user.externalId !== null || (await q.identities.ofUser(user.id)).length > 0
  if (user.passwordHash === noPassword && comesFromElsewhere) return false
  const live = (await q.personal.rows('passwordLinks', user.id)).filter(
    ({ endedAt, expiresAt }) => endedAt === null && expiresAt > now,
  )
  return live.length < mostAskedLinks && live.every(({ createdAt }) => now - createdAt >= askedLinkPauseMs)
}
