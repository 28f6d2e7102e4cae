import { type AuditAction, isAuditAction } from '../domain/audit-action.ts'
import type { AppEvent } from '../operations/audit/read-audit.ts'
import type { Named, Names } from '../operations/audit/names.ts'
import { conditionNames } from '../operations/health/health.ts'
import { storedJson } from '../operations/stored-json.ts'
import { roleInSentence } from './words.ts'
import { type ErrorCode, isErrorCode, messageOf, statusOf } from '../domain/errors.ts'
import type { FormCause } from '../domain/form-cause.ts'

/** An event of the audit log. The owner of an app is told less about it than operators are. */
export type AuditLine = Omit<AppEvent, 'isOwn'> & { readonly isOwn?: boolean }

/** A word of a sentence: our own text, or a name that somebody chose. `of` is null for what no longer exists. */
type Word = string | { readonly text: string; readonly of: Named | null }

/** What a sentence is made from. */
type Scene = {
  readonly who: Word
  readonly app: Word
  /** ` in development`, or nothing. */
  readonly where: string
  /** The thing that the event is about, by what it is called. */
  readonly user: Word
  readonly version: Word
  /** `the secret Backend`. */
  readonly secret: Words
  readonly endpoint: Word
  /** `the service key Shop`. */
  readonly key: Words
  readonly resource: Word
  /** ` on My shop`, or nothing. */
  readonly place: readonly Word[]
  readonly bearer: readonly Word[]
  /** Whether somebody changed their own account. */
  readonly isSelf: boolean
  readonly target: string
  /** A value of the detail as text, empty without one. */
  readonly value: (name: string) => string
  /** The same after these words; other words if the event has no such value, as events of other releases may. */
  readonly given: (name: string, before: string, otherwise: string) => Words
  /** The thing that a value names. */
  readonly thing: (name: string, otherwise: string) => Word
  readonly names: (name: string) => string
  readonly role: string
  readonly number: (name: string) => number | null
}

type Words = readonly Word[]

const tell = (texts: TemplateStringsArray, ...words: readonly (Word | Words)[]): Words =>
  texts
    .flatMap((text, index): Words => {
      const word = words[index]
      if (word === undefined) return [text]
      return typeof word === 'string' || 'text' in word ? [text, word] : [text, ...word]
    })
    .filter((word) => word !== '')

const chosen = (text: string): Word => ({ text, of: null })

/** The name of a condition in words; nothing if this program does not know it. */
const conditionIn = (target: string): Word =>
  chosen(conditionNames.some((name) => name === target) ? `: ${target.replaceAll('_', ' ')}` : '')

/** The sentence of each event. A refusal is told as what was tried; the reason stands beside it. */
const sentences: Readonly<Record<AuditAction, (of: Scene) => Words>> = {
  'api_version.deprecated': ({ who, app, given }) =>
    tell`${who} announced to ${app} that ${given('apiVersion', 'version ', 'a version')} of the API will be switched off`,
  'app.access_ended': ({ who, app }) => tell`${who} ended all access that ${app} had`,
  'app.activated': ({ who, app }) => tell`${who} activated ${app}`,
  'app.created': ({ who, app }) => tell`${who} registered ${app}`,
  'app.deleted': ({ who, app }) => tell`${who} deleted ${app}`,
  'app.hidden': ({ who, app }) => tell`${who} hid ${app} from the directory of apps`,
  'app.listed': ({ who, app }) => tell`${who} showed ${app} in the directory of apps again`,
  'app.publisher_changed': ({ who, app }) => tell`${who} changed the publisher of ${app}`,
  'app.purged': ({ who, given }) =>
    tell`${who} removed everything that belonged to ${given('slug', 'the deleted app ', 'a deleted app')}`,
  'app.renamed': ({ who, given }) => tell`${who} renamed ${given('from', '', 'an app')}${given('to', ' to ', '')}`,
  'app.rollback_allowed': ({ who, app }) => tell`${who} let development secrets roll back production of ${app}`,
  'app.rollback_refused': ({ who, app }) =>
    tell`${who} kept development secrets from rolling back production of ${app}`,
  'app.scopes_changed': ({ who, app, names }) =>
    tell`${who} changed the scopes of ${app}${listed(': added ', names('added'))}${listed(': withdrew ', names('withdrawn'))}`,
  'app.suspended': ({ who, app }) => tell`${who} suspended ${app}`,
  'app.transferred': ({ who, app, thing }) => tell`${who} gave ${app} to ${thing('to', 'another owner')}`,
  'app.undeleted': ({ who, app }) => tell`${who} restored ${app}`,
  'app_token.issue': ({ who, app, where }) => tell`${who} asked for an app token of ${app}${where}`,
  'app_token.issued': ({ app, where }) => tell`${app} got an app token${where}`,
  'app_token.revoked': ({ who, app, where }) => tell`${who} revoked an app token of ${app}${where}`,
  'app_tokens.purged': ({ who }) => tell`${who} removed expired app tokens`,
  'anonymous_refusals.purged': ({ who, number }) =>
    tell`${who} removed ${count(number('events'), 'old refusal')} of unknown callers`,
  'audit.exported': ({ who, target, app }) =>
    target === '' ? tell`${who} exported the audit log` : tell`${who} exported the audit log of ${app}`,
  'audit_events.purged': ({ who, number }) => tell`${who} removed ${count(number('events'), 'old audit event')}`,
  'authorization_code.exchange': ({ who, app, where }) => tell`${who} presented a code of ${app}${where}`,
  'authorization_code.exchange.repeated': ({ app, where }) =>
    tell`${app} repeated the exchange of a code${where} and got the same tokens`,
  'bearer.check': ({ who, bearer }) => tell`${who} presented ${bearer}`,
  'command.run': ({ who, given }) => tell`${who} ran ${given('command', 'the command ', 'a command')}`,
  'condition.began': ({ who, target }) => tell`${who} noticed a problem${conditionIn(target)}`,
  'condition.ended': ({ who, target }) => tell`${who} noticed the end of a problem${conditionIn(target)}`,
  'clock.reset': ({ who }) => tell`${who} set the clock of the database back`,
  'credential.confirmed': ({ who, secret, app, where }) =>
    tell`${who} confirmed that ${secret} of ${app}${where} may work again`,
  'credential.created': ({ who, secret, app, where }) => tell`${who} created ${secret} of ${app}${where}`,
  'credential.revoked': ({ who, secret, app, where }) => tell`${who} revoked ${secret} of ${app}${where}`,
  'credential.rotated': ({ who, app, where, number }) =>
    tell`${who} rotated the secret of ${app}${where}; the old one ${graceWords(number('graceHours'))}`,
  'credential.suspended': ({ who, secret, app, where }) =>
    tell`${who} suspended ${secret} of ${app}${where} because data was lost`,
  'database.backed_up': ({ who }) => tell`${who} backed up the database`,
  'database.backup_checked': ({ who, given }) => tell`${who} checked ${given('name', 'the backup ', 'a backup')}`,
  'database.backup_failed': ({ who }) => tell`${who} started a backup, which failed`,
  'database.backup_started': ({ who }) => tell`${who} started a backup`,
  'database.migrated': ({ who, given }) =>
    tell`${who} brought the tables of the database up to date${given('from', ', from step ', '')}${given('to', ' to step ', '')}`,
  'database.move_planned': ({ who }) => tell`${who} planned to move the database by a dump`,
  'database.moved': ({ who }) => tell`${who} moved the database to another machine`,
  'database.moved_here': ({ who }) => tell`${who} moved the database to this machine`,
  'database.recovered': ({ who }) => tell`${who} recovered a database that had lost changes`,
  'database.restored': ({ who }) => tell`${who} restored the database from a backup`,
  'device.ended': ({ who, user }) => tell`${who} removed a known browser of ${user} after too many wrong passwords`,
  'embedded_session.issue': ({ who, app, where }) => tell`${who} asked for a frame session of ${app}${where}`,
  'embedded_session.issued': ({ app, where, place }) => tell`${app} started a frame session${where}${place}`,
  'embedded_session.revoked': ({ who, app, where }) => tell`${who} ended a frame session of ${app}${where}`,
  'factor.added': ({ who, value }) => tell`${who} added ${factorWords(value('kind'))}`,
  'factor.asked': ({ who, value }) =>
    tell`${who} ${value('need') === 'enrolment' ? 'was asked to set up a second factor' : 'was asked for a second factor'}`,
  'factor.recovery_code_used': ({ who }) => tell`${who} used a recovery code`,
  'factor.recovery_codes_created': ({ who }) => tell`${who} created new recovery codes`,
  'factor.removed': ({ who, value }) => tell`${who} removed ${factorWords(value('kind'))}`,
  'grant.created': ({ who, app, where }) => tell`${who} gave ${app} access${where}`,
  'grant.denied': ({ who, app, where }) => tell`${who} refused ${app} access${where}`,
  'grant.reuse_detected': ({ app, where, value }) =>
    tell`Somebody presented a used ${spentWords(value('presented'))} of ${app}${where} again, so all tokens of that access ended`,
  'grant.revoked': ({ who, app, where }) => tell`${who} ended the access of ${app} to a user${where}`,
  'grants.purged': ({ who }) => tell`${who} removed expired grants`,
  'install.approved': ({ who, app, place }) => tell`${who} approved the install of ${app}${place}`,
  'install.created': ({ who, app, place }) => tell`${who} installed ${app}${place}`,
  'install.deactivated': ({ who, app, place }) => tell`${who} ended the install of ${app}${place}`,
  'install.rejected': ({ who, app, place }) => tell`${who} rejected the install of ${app}${place}`,
  'install.scopes_changed': ({ who, app, place }) => tell`${who} agreed to new scopes of ${app}${place}`,
  'install.withdrawn': ({ who, app, place }) => tell`${who} withdrew the install of ${app}${place}`,
  'install_session_code.issued': ({ who, app, place }) => tell`${who} opened ${app}${place}`,
  'install_session_code.reuse_detected': ({ app, where }) =>
    tell`Somebody presented a used frame code of ${app}${where} again`,
  'install_session_code.revoked': ({ who, app, where }) => tell`${who} revoked a frame code of ${app}${where}`,
  'installs.exported': ({ who, target, app }) =>
    target === '' ? tell`${who} exported the installs` : tell`${who} exported the installs of ${app}`,
  'mail.given_up': ({ user, value }) =>
    tell`A mail to ${user} was not delivered${listed(': ', value('fault').replaceAll('_', ' '))}`,
  'member.added': ({ who, user, app, role }) => tell`${who} made ${user} ${role} of ${app}`,
  'member.invitation_revoked': ({ who, app }) => tell`${who} revoked an invitation to ${app}`,
  'member.invited': ({ who, app, role }) => tell`${who} invited somebody to become ${role} of ${app}`,
  'member.joined': ({ who, app, role }) => tell`${who} became ${role} of ${app}`,
  'member.left': ({ who, app }) => tell`${who} left ${app}`,
  'member.removed': ({ who, user, app }) => tell`${who} removed ${user} from ${app}`,
  'member.role_changed': ({ who, user, app, role }) => tell`${who} made ${user} ${role} of ${app}`,
  'member.use_invitation': ({ who }) => tell`${who} opened or used an invitation to an app`,
  'page.change': ({ who }) => tell`${who} sent a form`,
  'redirect_uri.added': ({ who, app, where, given }) =>
    tell`${who} registered ${given('uri', 'the redirect URI ', 'a redirect URI')} of ${app}${where}`,
  'redirect_uri.removed': ({ who, app, where, given }) =>
    tell`${who} removed ${given('uri', 'the redirect URI ', 'a redirect URI')} of ${app}${where}`,
  'refresh_token.rotate': ({ who, app, where }) => tell`${who} presented a refresh token of ${app}${where}`,
  'refresh_token.rotate.repeated': ({ app, where }) => tell`${app} repeated a refresh${where} and got the same tokens`,
  'resource.changed': ({ who, resource }) => tell`${who} changed ${resource}`,
  'resource.created': ({ who, resource }) => tell`${who} added ${resource}`,
  'resource.deleted': ({ who, resource }) => tell`${who} deleted ${resource}`,
  'resources.imported': ({ who }) => tell`${who} imported websites and stores`,
  'scope.added': ({ who, given }) => tell`${who} added ${given('scope', 'the scope ', 'a scope')}`,
  'scope.given': ({ who, app, given }) =>
    tell`${who} gave ${given('scope', 'the restricted scope ', 'a restricted scope')} to ${app}`,
  'scope.retired': ({ who, given }) => tell`${who} retired ${given('scope', 'the scope ', 'a scope')}`,
  'scope.taken': ({ who, app, given }) =>
    tell`${who} took ${given('scope', 'the restricted scope ', 'a restricted scope')} back from ${app}`,
  'service_key.confirmed': ({ who, key }) => tell`${who} confirmed that ${key} may work again`,
  'service_key.created': ({ who, key }) => tell`${who} created ${key}`,
  'service_key.revoked': ({ who, key }) => tell`${who} revoked ${key}`,
  'service_key.rotated': ({ who, key, number }) =>
    tell`${who} rotated ${key}; the old one ${graceWords(number('graceHours'))}`,
  'service_key.suspended': ({ who, key }) => tell`${who} suspended ${key} because data was lost`,
  'service_key.use': ({ who, key }) => tell`${who} used ${key}`,
  'session.create': ({ who }) => tell`${who} tried to sign in`,
  'session.created': ({ who }) => tell`${who} signed in`,
  'session.ended': ({ who }) => tell`${who} ended a session`,
  'session.prove': ({ who }) => tell`${who} tried to confirm their identity`,
  'session.proved': ({ who }) => tell`${who} confirmed their identity`,
  'sessions.ended': ({ who, number }) => tell`${who} ended ${count(number('ended'), 'other session')}`,
  'settings.changed': ({ who, names }) =>
    tell`${who} read settings again that had changed${listed(': ', names('settings'))}`,
  'sign_in.accepted': ({ who, user }) => tell`${who} let ${user} sign in`,
  'sign_in.rejected': ({ who }) => tell`${who} refused a request to sign in`,
  'token.introspect': ({ who, app, where }) => tell`${who} asked about a token of ${app}${where}`,
  'token.revoke': ({ who, app, where }) => tell`${who} tried to revoke a token as ${app}${where}`,
  'user.access_ended': ({ who, user }) => tell`${who} ended everything that was issued for ${user}`,
  'user.change_password': ({ who }) => tell`${who} tried to change their password`,
  'user.changed': ({ who, user, names }) => tell`${who} changed ${user}${listed(': ', names('fields'))}`,
  'user.created': ({ who, user }) => tell`${who} created ${user}`,
  'user.disabled': ({ who, user }) => tell`${who} disabled ${user}`,
  'user.email_asked': ({ who }) => tell`${who} asked to change their email address`,
  'user.email_changed': ({ who, user, isSelf }) =>
    isSelf ? tell`${who} changed their email address` : tell`${who} changed the email address of ${user}`,
  'user.enabled': ({ who, user }) => tell`${who} enabled ${user}`,
  'user.erased': ({ who }) => tell`${who} erased a user`,
  'user.factors_reset': ({ who, user }) => tell`${who} removed all second factors of ${user}`,
  'user.mails_chosen': ({ who }) => tell`${who} chose which emails to get`,
  'user.linked': ({ who, user, value }) =>
    tell`${who} linked ${user} to ${sites[value('way')] ?? 'an account at another service'}`,
  'user.operator_granted': ({ who, user }) => tell`${who} made ${user} an operator`,
  'user.operator_withdrawn': ({ who, user }) => tell`${who} removed the operator rights of ${user}`,
  'user.password_changed': ({ who }) => tell`${who} changed their password`,
  'user.confirmed': ({ who, user }) => tell`${who} let ${user} sign in again`,
  'user.invited': ({ who, user }) => tell`${who} invited ${user}`,
  'user.password_set': ({ who }) => tell`${who} set a password with a link`,
  'user.reset_link_created': ({ who, user }) => tell`${who} created a link for ${user} to set a new password`,
  'user.reset_link_mailed': ({ user }) =>
    tell`A link to set a new password was mailed to ${user}, who had asked for it`,
  'user.unlinked': ({ who, user }) => tell`${who} unlinked ${user} from the identity provider`,
  'user.use_link': ({ who }) => tell`${who} tried to set a password with a link that does not work`,
  'user.password_reset': ({ who, user }) => tell`${who} gave ${user} a new password`,
  'user.suspended': ({ who, user }) => tell`${who} suspended ${user} because data was lost`,
  'user.sessions_ended': ({ who, user, number }) =>
    tell`${who} ended ${count(number('sessions'), 'session')} of ${user}`,
  'user_tokens.issued': ({ app, where }) => tell`${app} got tokens to act for a user${where}`,
  'version.activated': ({ who, version, app }) => tell`${who} activated ${version} of ${app}`,
  'version.answered': ({ who, version, app }) => tell`${who} answered a question about ${version} of ${app}`,
  'version.asked': ({ who, version, app }) => tell`${who} asked a question about ${version} of ${app}`,
  'version.approved': ({ who, version, app }) => tell`${who} approved ${version} of ${app}`,
  'version.created': ({ who, version, app }) => tell`${who} uploaded ${version} of ${app}`,
  'version.rejected': ({ who, version, app }) => tell`${who} rejected ${version} of ${app}`,
  'version.removed': ({ who, app, given }) =>
    tell`${who} removed ${given('version', 'the draft ', 'a draft')} of ${app}`,
  'version.replaced': ({ who, version, app }) => tell`${who} replaced the draft ${version} of ${app}`,
  'version.rolled_back': ({ who, version, app, where, thing }) =>
    tell`${who} rolled ${app} back from ${thing('fromVersionId', 'a removed version')} to ${version}${where}`,
  'version.submitted': ({ who, version, app }) => tell`${who} submitted ${version} of ${app} for review`,
  'version.withdrawn': ({ who, version, app }) => tell`${who} withdrew ${version} of ${app} from review`,
  'webhook.changed': ({ who, endpoint, app, where }) => tell`${who} changed ${endpoint} of ${app}${where}`,
  'webhook.created': ({ who, app, where, given }) =>
    tell`${who} added a webhook endpoint of ${app}${where}${given('host', ' at ', '')}`,
  'webhook.disabled': ({ who, endpoint, app, where }) => tell`${who} disabled ${endpoint} of ${app}${where}`,
  'webhook.enabled': ({ who, endpoint, app, where }) => tell`${who} enabled ${endpoint} of ${app}${where}`,
  'webhook.pinged': ({ who, endpoint, app, where }) => tell`${who} sent a ping to ${endpoint} of ${app}${where}`,
  'webhook.removed': ({ who, app, where }) => tell`${who} removed a webhook endpoint of ${app}${where}`,
  'webhook.resent': ({ who, endpoint, app, where, number }) =>
    tell`${who} sent ${count(number('events'), 'event')} again to ${endpoint} of ${app}${where}`,
  'webhook.secret_rotated': ({ who, endpoint, app, where, number }) =>
    tell`${who} rotated the secret of ${endpoint} of ${app}${where}; the old one ${graceWords(number('graceHours'))}`,
}

const sites: Readonly<Record<string, string>> = { oidc: 'the identity provider', handover: 'the builder' }
const factors: Readonly<Record<string, string>> = { totp: 'an authenticator app', passkey: 'a passkey' }
const factorWords = (kind: string): string => factors[kind] ?? 'a second factor'
const listed = (before: string, names: string): string => (names === '' ? '' : before + names)
const count = (number: number | null, noun: string): string =>
  number === null ? `${noun}s` : `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
const graceWords = (hours: number | null): string => {
  if (hours === null) return 'ends after its grace period'
  return hours === 0 ? 'ended at once' : `ends after ${count(hours, 'hour')}`
}
const spent: Readonly<Record<string, string>> = { refresh_token: 'refresh token', '': 'secret' }
const spentWords = (kind: string): string => spent[kind] ?? 'code'

/**
 * An event as a sentence, without its time. An action of another release is told by its name. A page about one app does not say its
 * name again in each sentence.
 */
export const auditSentence = (event: AuditLine, names: Names, pageOfApp: string | null = null): Words => {
  const scene = sceneOf(event, names)
  const told = isAuditAction(event.action) ? sentences[event.action](scene) : tell`${scene.who}: ${event.action}`
  const words = pageOfApp === null ? told : withoutApp(told, pageOfApp)
  const [first, ...others] = words
  return typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...others] : words
}

/** "Ada uploaded 1.4.0 of Newsletter" becomes "Ada uploaded 1.4.0", and anywhere else the name becomes "the app". */
const withoutApp = (words: Words, id: string): Words => {
  const isApp = (word: Word | undefined) => typeof word === 'object' && word.of?.id === id
  return words.flatMap((word, index): Words => {
    if (typeof word === 'string' && isApp(words[index + 1])) return [word.replace(/ of $/, '')]
    const before = words[index - 1]
    if (!isApp(word)) return [word]
    return typeof before === 'string' && before.endsWith(' of ') ? [] : ['the app']
  })
}

/** The same as plain text. */
export const plainSentence = (event: AuditLine, names: Names): string =>
  auditSentence(event, names)
    .map((word) => (typeof word === 'string' ? word : word.text))
    .join('')

const sceneOf = (event: AuditLine, names: Names): Scene => {
  const { target, environment, actorId } = event
  const detail = detailOf(event.detail)
  const named = (id: string | null, otherwise: string): Word => {
    const of = id === null ? undefined : names.get(id)
    return of === undefined || of.name === '' ? otherwise : { text: of.name, of }
  }
  const install = names.get(target ?? '')
  const app = event.appId === null ? 'an unknown app' : named(event.appId, 'a removed app')
  const user = named(target, 'a user')
  return {
    who: actorWord(event, named),
    app,
    where: environment === null ? '' : ` in ${environment}`,
    user,
    version: named(target, 'a removed version'),
    secret: secretWords(named(target, ''), names.has(target ?? '')),
    endpoint: named(target, 'a removed webhook endpoint'),
    key: keyWords(named(target, '')),
    resource: named(target, 'a website or store that was removed'),
    place: install?.kind === 'install' ? [' on ', named(target, 'a removed place')] : [],
    bearer: bearerWords(target, user, app),
    isSelf: target !== null && target === actorId,
    target: target ?? '',
    value: (name) => String(detail[name] ?? ''),
    given: (name, before, otherwise) => {
      const value = detail[name] ?? ''
      return value === '' ? [otherwise] : [before, chosen(String(value))]
    },
    thing: (name, otherwise) => named(String(detail[name] ?? ''), otherwise),
    names: (name) => namesIn(detail[name]),
    role: roleInSentence(detail['to'] ?? detail['role']),
    number: (name) => (detail[name] == null ? null : Number(detail[name])),
  }
}

const detailOf = (text: string | null): Readonly<Record<string, unknown>> =>
  text === null ? {} : storedJson<Readonly<Record<string, unknown>>>(text)

const namesIn = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(' ') : '')

const keyWords = (name: Word): Words => (name === '' ? ['a removed service key'] : ['the service key ', name])

const secretWords = (label: Word, exists: boolean): Words =>
  label === '' ? [exists ? 'a secret without a label' : 'a removed secret'] : ['the secret ', label]

/** Whose token was presented, as far as it is known. */
const bearerWords = (target: string | null, user: Word, app: Word): Words => {
  if (target === null) return ['an unknown token']
  return target.startsWith('usr_') ? ['a session of ', user] : ['a token of ', app]
}

const actorWord = (event: AuditLine, named: (id: string | null, otherwise: string) => Word): Word => {
  const { actorKind, actorId, appId, isOwn } = event
  if (isOwn === true) return 'You'
  switch (actorKind) {
    case 'app':
      return named(actorId, '') === '' ? named(appId, 'a removed app') : named(actorId, '')
    case 'user':
      return named(actorId, 'a user')
    case 'operator':
      return actorId === null || actorId.startsWith('usr_')
        ? named(actorId, 'an operator')
        : { text: `${actorId} (command line)`, of: null }
    case 'system':
      return actorId === null ? 'the platform' : named(actorId, 'the builder')
    case 'anonymous':
      return 'somebody'
    default:
      return actorKind satisfies never
  }
}

/**
 * Why something was refused, as a sentence for the audit log; null for what was done. The sentence of a code speaks to the caller of one
 * kind of call. Events of other kinds that are refused with the same code have one of their own, or one that fits everything.
 */
export const refusalWords = (
  event: Pick<AuditLine, 'action' | 'outcome' | 'reason'> & Partial<Pick<AuditLine, 'detail'>>,
): string | null => {
  const { action, outcome, reason } = event
  if (outcome === 'done') return null
  if (reason === null) return 'No reason is recorded.'
  const known = formWords.get(reason) ?? wordsOfDetail(event) ?? ofAction.get(action)?.get(reason)
  if (known !== undefined) return known
  if (!isErrorCode(reason)) return reason
  const subjects = subjectsOf.get(reason)
  const [subject = ''] = action.split('.')
  return subjects === undefined || subjects.includes(subject) ? messageOf(reason) : general[statusOf(reason)]
}

const mapped = <T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> => new Map(Object.entries(table))

const formWords = mapped<string>({
  form_expired: 'The form was open for too long.',
  form_of_other_session: 'The form was made for another session, account or page.',
  form_at_other_address: 'The page was open at another address than PUBLIC_URL.',
  form_from_other_site: 'The form was sent from another site.',
  form_without_cookie: 'The browser sent no cookie that could be read.',
} satisfies Record<FormCause, string>)

/** Somebody who could not sign in or confirm who they are, by the way in which they tried. */
const wordsOfDetail = ({
  action,
  reason,
  detail = null,
}: Pick<AuditLine, 'action' | 'reason'> & Partial<Pick<AuditLine, 'detail'>>): string | undefined => {
  if (reason !== 'invalid_login' || detail === null) return undefined
  if (action !== 'session.create' && action !== 'session.prove') return undefined
  const facts = storedJson<Readonly<Record<string, unknown>>>(detail)
  const way = facts['way'] ?? facts['with'] ?? facts['factor']
  const why = typeof facts['reason'] === 'string' ? `: ${facts['reason'].replaceAll('_', ' ')}.` : '.'
  const place = way === 'oidc' ? 'the identity provider' : way === 'handover' ? 'the builder' : null
  if (place !== null) return `What ${place} answered was not accepted${why}`
  if (way === 'passkey') return 'The passkey was not accepted.'
  return way === 'code' ? 'The code of the second factor was wrong, or it came too late.' : undefined
}

/** What a code means for an event whose subject its own sentence does not name. */
const ofAction = mapped(
  Object.fromEntries(
    Object.entries({
      'user.use_link': { version_not_eligible: 'The link was used, replaced or has expired.' },
      'member.use_invitation': {
        version_not_eligible: 'The invitation was used, revoked or has expired.',
        right_missing: 'The invitation is for another email address.',
      },
      'user.change_password': { invalid_login: 'The present password was wrong.' },
      'session.prove': { invalid_login: 'The password or the code was wrong.' },
      'service_key.use': { right_missing: 'The service key lacks the right that this needs.' },
      'command.run': { right_missing: 'No service key may run this command.' },
      'page.change': {
        right_missing: 'Their role lacks the right that this needs.',
        route_not_found: 'It is not theirs, or it no longer exists.',
        idempotency_key_reused: 'The form had been sent before.',
        version_not_eligible: 'What the form was about had changed.',
      },
    } satisfies Partial<Record<AuditAction, Partial<Record<ErrorCode, string>>>>).map(
      ([action, words]) => [action, mapped<string>(words)] as const,
    ),
  ),
)

/** The nouns of the events that the sentence of a code fits. The sentences of all other codes fit every event. */
const subjectsOf = mapped<readonly string[]>({
  version_not_eligible: ['version'],
  version_locked: ['version'],
  version_already_current: ['version'],
  version_not_found: ['version', 'app'],
  no_previous_version: ['version', 'app'],
  activation_not_allowed: ['version'],
  rollback_not_allowed: ['version', 'app'],
  checksum_mismatch: ['version'],
  invalid_login: ['session', 'user'],
  second_factor_required: ['session'],
  right_missing: ['service_key', 'app', 'member'],
  operator_protected: ['service_key', 'command', 'user', 'sign_in', 'app', 'member'],
  token_not_owned: ['token', 'bearer', 'app_token'],
  too_many_secrets: ['credential', 'webhook'],
  email_taken: ['user'],
  slug_taken: ['resource'],
  owns_apps: ['user'],
} satisfies Partial<Record<ErrorCode, readonly string[]>>)

/** A sentence of each status that fits every event. */
const general = {
  400: 'What was sent is not valid.',
  401: 'The caller did not prove who it is.',
  403: 'The caller may not do this.',
  404: 'What was named does not exist.',
  405: 'This cannot be done there.',
  409: 'Its state does not allow this.',
  410: 'It has been retired.',
  413: 'What was sent is too large.',
  415: 'What was sent has another type.',
  422: 'It was sent before with other content.',
  429: 'There were too many requests.',
  500: 'Something went wrong on our side.',
  503: 'The service could not take this request.',
} as const satisfies Record<ReturnType<typeof statusOf>, string>
