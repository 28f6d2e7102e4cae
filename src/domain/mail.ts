import type { Environment } from './app.ts'
import type { AuditAction } from './audit-action.ts'
import type { AppRight } from './member.ts'

/**
 * What a mail is about. `reset_asked` is for an address that somebody typed, so whether it has a user is decided when the mail is
 * sent, and not while they wait for the answer.
 */
export const mailKinds = [
  'invitation',
  'reset',
  'reset_asked',
  'email_asked',
  'new_device',
  'password_changed',
  'email_changed',
  'factor_added',
  'factor_removed',
  'recovery_code_used',
  'recovery_codes_created',
  'identity_changed',
  'secret_made',
  'rolled_back',
  'app_invitation',
  'condition_began',
  'condition_ended',
  'version_decided',
  'review_asked',
  'review_answered',
  'install_decided',
  'endpoint_disabled',
  'work_waits',
  'secret_ends',
] as const
export type MailKind = (typeof mailKinds)[number]

/** What people choose to be told by mail. Everything else is about who gets in, or about the server, and always comes. */
export const mailTopics = ['reviews', 'installs', 'endpoints', 'secrets', 'waiting'] as const
export type MailTopic = (typeof mailTopics)[number]

const topics = {
  version_decided: 'reviews',
  review_asked: 'reviews',
  install_decided: 'installs',
  endpoint_disabled: 'endpoints',
  secret_ends: 'secrets',
  review_answered: 'waiting',
  work_waits: 'waiting',
} as const satisfies Partial<Readonly<Record<MailKind, MailTopic>>>

/** The mails of these topics: news that nothing depends on. */
export type NewsKind = keyof typeof topics
export const isNews = (kind: MailKind): kind is NewsKind => Object.hasOwn(topics, kind)
export const topicOf = (kind: NewsKind): MailTopic => topics[kind]

/** The news that tell an action. */
const newsOfActions: Partial<Readonly<Record<AuditAction, NewsKind>>> = {
  'version.approved': 'version_decided',
  'version.rejected': 'version_decided',
  'version.asked': 'review_asked',
  'version.answered': 'review_answered',
  'install.approved': 'install_decided',
  'install.rejected': 'install_decided',
  'webhook.disabled': 'endpoint_disabled',
}

/** Operators are told of what waits at most this often. */
export const waitingToldMs = 3_600_000

/** Those with a link of their own. They are dropped when such links end. */
export const linkMails: readonly MailKind[] = ['invitation', 'reset', 'reset_asked', 'email_asked']

/** The actions that concern how somebody gets in, and what all users and operators get. Each of them decides here whether a mail tells it. */
type AccessAction = Extract<
  AuditAction,
  | `${'user' | 'factor' | 'session' | 'sessions' | 'device' | 'credential' | 'condition'}.${string}`
  | 'version.rolled_back'
>

/**
 * The mail that tells an action. Null is for what is told in another way or takes access away only, for refusals, and for what only the
 * operation can tell: a new device, and a new address.
 */
const kindsOfActions: Readonly<Record<AccessAction, MailKind | null>> = {
  'user.invited': 'invitation',
  'user.reset_link_created': 'reset',
  'user.password_changed': 'password_changed',
  'user.password_reset': 'password_changed',
  'user.password_set': 'password_changed',
  'user.factors_reset': 'factor_removed',
  'user.linked': 'identity_changed',
  'user.mails_chosen': null,
  'user.unlinked': 'identity_changed',
  'factor.added': 'factor_added',
  'factor.removed': 'factor_removed',
  'factor.recovery_code_used': 'recovery_code_used',
  'factor.recovery_codes_created': 'recovery_codes_created',
  'credential.created': 'secret_made',
  'credential.rotated': 'secret_made',
  'version.rolled_back': 'rolled_back',
  'condition.began': 'condition_began',
  'condition.ended': 'condition_ended',
  'credential.confirmed': null,
  'credential.revoked': null,
  'credential.suspended': null,
  'device.ended': null,
  'factor.asked': null,
  'session.create': null,
  'session.created': null,
  'session.ended': null,
  'session.prove': null,
  'session.proved': null,
  'sessions.ended': null,
  'user.access_ended': null,
  'user.change_password': null,
  'user.changed': null,
  'user.confirmed': null,
  'user.created': null,
  'user.disabled': null,
  'user.email_asked': null,
  'user.email_changed': null,
  'user.enabled': null,
  'user.erased': null,
  'user.operator_granted': null,
  'user.operator_withdrawn': null,
  'user.reset_link_mailed': null,
  'user.sessions_ended': null,
  'user.suspended': null,
  'user.use_link': null,
}

const concernsAccess = (action: AuditAction): action is AccessAction => Object.hasOwn(kindsOfActions, action)

/** The mails to the team of an app, and the right of the members who get a copy. They tell what was done in production. */
export const teamMails: Partial<Readonly<Record<MailKind, AppRight>>> = {
  secret_made: 'productionSecrets',
  rolled_back: 'owners',
}

/** The mails to all operators: their addresses are found when it is sent. */
export const isOperatorMail = (kind: MailKind): kind is 'condition_began' | 'condition_ended' =>
  kind === 'condition_began' || kind === 'condition_ended'

/** The mail about an action; null for most. */
export const mailToldBy = (action: AuditAction, environment: Environment | null): MailKind | null => {
  const kind = concernsAccess(action) ? kindsOfActions[action] : (newsOfActions[action] ?? null)
  return kind !== null && teamMails[kind] !== undefined && environment !== 'production' ? null : kind
}

/** Waiting, taken by the mail server, given up, or without a reason to be sent any more. */
export const mailStates = ['pending', 'sent', 'failed', 'dropped'] as const

/** Why a mail was not sent. */
export const mailFaults = [
  'unknown_host',
  'not_connected',
  'timed_out',
  'tls',
  'login',
  'sender',
  'recipient',
  'recipient_later',
  'relay',
  'refused',
] as const
export type MailFault = (typeof mailFaults)[number]

/** How to reach the mail server, and as whom mails are sent. */
export type MailSettings = {
  readonly host: string
  readonly port: number
  /** From the first byte; by STARTTLS, without which nothing is sent; or none. */
  readonly tls: 'implicit' | 'starttls' | 'none'
  readonly login: { readonly user: string; readonly password: string } | null
  readonly from: { readonly name: string | null; readonly address: string }
}

/** What is wrong, in one sentence with the remedy. It names no recipient and no password. */
export const mailFaultSentence = (fault: MailFault, { host, port }: Pick<MailSettings, 'host' | 'port'>): string =>
  `The mail server ${host}:${port} ${faultWords[fault]}`

/** The same of the last mail to a user. */
export const lostMailSentence = (fault: MailFault): string =>
  `The last mail to this user was not delivered: the mail server ${faultWords[fault]}`

const faultWords: Readonly<Record<MailFault, string>> = {
  unknown_host: 'cannot be found: check the host in SMTP_URL, and that this machine resolves names.',
  not_connected: 'cannot be reached: check host and port in SMTP_URL, firewalls, and that it is running.',
  timed_out: 'did not answer in time: check the port in SMTP_URL (465 needs smtps://), firewalls, and its log.',
  tls: 'offers no TLS that can be trusted: give the name that its certificate has, smtps:// for port 465, and NODE_EXTRA_CA_CERTS for an authority of your own.',
  login: 'refuses the login: check user and password in SMTP_URL, with special characters written as %40.',
  sender: 'refuses the sender: set MAIL_FROM to an address that it may send from.',
  recipient: 'refuses the recipient: check the address.',
  recipient_later: 'takes no mail for the recipient now: it is tried again; see its log if this lasts.',
  relay:
    'does not take mails from this server for others: let it send there, or put user and password into SMTP_URL; see its log.',
  refused: 'refuses the mail: see its log.',
}

/** Whether it concerns this mail alone, and not the server or its settings. */
export const isOfRecipient = (fault: MailFault): boolean => fault === 'recipient' || fault === 'recipient_later'

const minute = 60_000
const hour = 60 * minute

/** The pause after each attempt: ten attempts in a day. */
const pauses = [minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 8 * hour]
export const mostMailAttempts = pauses.length + 1
/** The pause after this many attempts. */
export const pauseAfterMail = (attempts: number): number => pauses[attempts - 1] ?? 8 * hour
/**
 * How long an attempt may take. A mail server that checks a mail before it takes it may need ten minutes (RFC 5321 section 4.5.3.2.6);
 * whoever does not wait for it sends the mail again and again.
 */
export const mailTimeoutMs = 11 * minute
/** When a mail is tried again if nobody says how the attempt that begins now has ended: until then one server sends it. */
export const unknownEndMs = mailTimeoutMs + minute
/** How long after it was asked for a mail that was given up is a condition: it is tried for one day. */
export const givenUpToldMs = 2 * 24 * hour
/** How long the outbox remembers a mail, without its address and content. */
export const mailHistoryMs = 7 * 24 * hour

/**
 * So many invitations to apps are mailed to an address in a day, and so many of one person: nobody can flood a mailbox. The others
 * have their links only.
 */
export const mostMailedInvitations = { toAddress: 5, byInviter: 50 } as const

/** Of the links that people ask for themselves, so many may be live. The newest one they have works, so nobody is locked out. */
export const mostAskedLinks = 5
/** How long one must wait for another one. */
export const askedLinkPauseMs = 10 * minute

/** A mail without its address: plain sentences, and a link. */
export type Letter = {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly link: { readonly words: string; readonly url: string } | null
  /** What comes after the link. */
  readonly after: readonly string[]
}

/** One line without control characters, whatever a name has: a header must not end early. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

/** The two forms of a letter. */
export const writtenLetter = ({ subject, paragraphs, link, after }: Letter) => ({
  subject: oneLine(subject),
  text: [
    ...paragraphs.map(oneLine),
    ...(link === null ? [] : [`${link.words}:\n${link.url}`]),
    ...after.map(oneLine),
    '',
  ].join('\n\n'),
  html: [
    '<!doctype html><html lang="en"><body style="font:16px/1.5 system-ui,sans-serif;max-width:36em">',
    ...paragraphs.map(paragraph),
    ...(link === null ? [] : [`<p><a href="${escaped(link.url)}">${escaped(link.words)}</a></p>`]),
    ...after.map(paragraph),
    '</body></html>',
  ].join('\n'),
})

const paragraph = (text: string): string =>
  `<p>${escaped(oneLine(text)).replaceAll(fromRightToLeft, '<bdi>$&</bdi>')}</p>`

const rightToLeft = String.raw`[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]`
/** A name in such letters. It must not turn round what stands beside it in an English sentence. */
const fromRightToLeft = new RegExp(String.raw`${rightToLeft}(?:[^\p{Script=Latin}\n]*${rightToLeft})?`, 'gu')

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
