// The three ways to a working password: users change their own, operators reset one, and operators let
// somebody sign in again whom a recovery has suspended.
import type { User, PasswordLink, Queries } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import {
  deadLinkWords,
  endOfLink,
  emailLinkPath,
  newPasswordFault,
  normalPassword,
  passwordFault,
  passwordLinkPath,
  passwordLinkSeconds,
} from '../../domain/password.ts'
import { type Rule, refusalIfEnded } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import {
  badInput,
  decide,
  type OpenChange,
  type Operation,
  refusalOfFaults,
  refuseFault,
  CountedRefusal,
  settle,
} from '../decide.ts'
import { endSignIns } from '../end-access.ts'
import { anonymous, unsentMail } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { type MintedSession, mintSession } from '../sessions/sign-in.ts'
import { personOf, type Whom } from './find-user.ts'
import { recordId, recordIdOfKey, type RowKey, rowKey } from '../../domain/identifier.ts'
import { typedName } from '../../domain/entered-name.ts'
import { hashSecret, mintSecret, parseSecret, secretDigits } from '../../domain/secret.ts'
import { mayUsePassword } from '../../domain/sign-in-rules.ts'
import { emailFault, normalizeEmail } from '../../domain/user.ts'
import { findPasswordLink } from '../find-token.ts'
import { newUser, changeUser } from './users.ts'

type PasswordChange = {
  readonly current: string
  readonly next: string
  /** The new password, typed a second time. */
  readonly repeated: string
}

/**
 * Changes the caller's password. The slow hashes are computed before the transaction, which stores the new one only if
 * the old one has not changed meanwhile. All sessions of the user end; the caller gets a new one in the same transaction.
 * Grants stay, because a connected app never knew the password.
 * @throws invalid_request for a new password that cannot be used, invalid_login for a wrong current password,
 *   login_required when the session has ended
 */
export const changePassword = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  passwords: PasswordChange,
): Promise<Pick<MintedSession, 'sessionToken' | 'expiresAt'>> => {
  const fault = faultOf(passwords)
  if (fault !== null) throw fault
  const user = await platform.database.queries.users.byId(caller.user.id)
  const checkable = passwordFault(passwords.current) === null
  const oldHash = user?.passwordHash ?? null
  const matches = (await platform.passwords.matches(checkable ? passwords.current : '', oldHash)) && checkable
  const newHash = matches ? await platform.passwords.hash(passwords.next) : null

  const now = platform.clock.now()
  const session = mintSession(platform, trace, now)
  return await decide(platform, trace, { actor: actorOf(caller), now }, async (change) => {
    const { q, record } = change
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    const replaced =
      oldHash !== null && newHash !== null && (await q.users.replacePassword(caller.user.id, oldHash, newHash, now))
    if (!replaced) return await wrongPassword(change, caller.user.id)
    await renewSessions(change, caller, session)
    await record({ action: 'user.password_changed', target: caller.user.id })
    return { sessionToken: session.sessionToken, expiresAt: session.expiresAt }
  })
}

/** The fault of the form itself, which does not depend on whether the current password is right. */
const faultOf = (passwords: PasswordChange): PlatformError | null => {
  const [current, next, repeated] = [passwords.current, passwords.next, passwords.repeated].map(normalPassword)
  return refusalOfFaults({
    password: newPasswordFault(passwords.next) ?? (next === current ? sameAsBefore : null),
    repeated: next === repeated ? null : 'The two new passwords differ.',
  })
}

const sameAsBefore = 'The new password is the same as the current one.'

const wrongPassword = async ({ record }: OpenChange, userId: string): Promise<PlatformError> => {
  await record({ action: 'user.change_password', target: userId, refusedWith: 'invalid_login' })
  return refuse('invalid_login', { param: 'current', message: 'The current password is wrong.' })
}

/** Ends all sessions of the user and stores a new one for the caller's browser. */
const renewSessions = async (change: OpenChange, caller: SessionCaller, session: MintedSession): Promise<void> => {
  const { q, now } = change
  const own = await q.sessions.find(caller.sessionKey)
  await endSignIns(change, caller.user.id)
  await q.sessions.insert(session.rowFor(caller.user.id, own?.session.agent ?? null, now))
}

/**
 * The rule for steps on the desk that operators do not take about themselves, such as resetting a password: that needs the
 * current one, or a stolen session would be enough to take over the account.
 */
export const isForSomebodyElse =
  (userId: string, message = ownPassword): Rule =>
  async (_, operatorId) =>
    operatorId === userId ? badInput('user', message) : null

export const ownPassword = 'You cannot reset your own password here: change it under Account, Password.'

/**
 * Gives a user a new password and ends their sessions. Grants stay. Of two resets at once only one succeeds, so a
 * password that an operator is shown always works.
 * @throws invalid_request for an unknown user or a password that cannot be used, version_not_eligible when the password
 *   has changed since it was read
 */
export const resetPassword: Operation<
  { readonly userId: string; readonly password: string },
  { readonly user: User; readonly endedSessions: number }
> = async (platform, trace, actor, input) => {
  refuseFault('password', newPasswordFault(input.password))
  const user = await personOf(platform.database.queries, input)
  if (user instanceof PlatformError) throw user
  const passwordHash = await platform.passwords.hash(input.password)
  return await decide(platform, trace, { actor }, async (change) => {
    const { q, now, record } = change
    if (!(await q.users.replacePassword(user.id, user.passwordHash, passwordHash, now))) {
      return refuse('version_not_eligible', { message: changedSince })
    }
    await q.users.confirm(user.id)
    const endedSessions = await endSignIns(change, user.id)
    await record({ action: 'user.password_reset', target: user.id })
    return { user: { ...user, passwordHash, suspendedAt: null, updatedAt: now }, endedSessions }
  })
}

const changedSince = 'The password was changed a moment ago. Nothing was done a second time.'

/**
 * Lets a user sign in again whom a recovery has suspended. Nothing changes for anybody else.
 * @throws invalid_request for an unknown address
 */
export const confirmUser: Operation<Whom, User> = async (platform, trace, actor, whom) => {
  return await decide(platform, trace, { actor }, async ({ q, record }) => {
    const user = await personOf(q, whom)
    if (user instanceof PlatformError) return user
    if (!(await q.users.confirm(user.id))) return user
    await record({ action: 'user.confirmed', target: user.id })
    return { ...user, suspendedAt: null }
  })
}

// Links with which people set a password themselves, so that nobody has to tell one to anybody.

/** A new link. The answer that makes it is the only place that has it. */
export type MadeLink = { readonly user: User; readonly link: string; readonly expiresAt: number }

type LinkKind = {
  readonly kind: 'passwordLink' | 'appInvitation'
  readonly path: string
  readonly seconds: number
}

/** A link with a secret, made before the transaction that stores its hash. `now` is epoch milliseconds. */
export const mintSecretLink = (platform: Platform, now: number, { kind, path, seconds }: LinkKind) => {
  const key = rowKey(platform.random.uuid(now))
  const digits = platform.random.digits(secretDigits)
  return { key, ...secretLink(platform, { kind, path, key, digits }), expiresAt: now + seconds * 1000 }
}

type LinkParts = Pick<LinkKind, 'kind' | 'path'> & { readonly key: RowKey; readonly digits: string }

/** A link of these digits, and the hash of its secret. */
export const secretLink = ({ publicUrl }: Pick<Platform, 'publicUrl'>, { kind, path, key, digits }: LinkParts) => {
  const secret = mintSecret({ kind, key, digits })
  return {
    link: `${publicUrl}${path}?${new URLSearchParams({ link: secret }).toString()}`,
    hash: hashSecret(secret),
  }
}

type LinkPath = typeof passwordLinkPath | typeof emailLinkPath

const passwordLink = { kind: 'passwordLink', seconds: passwordLinkSeconds } as const

export type MintedLink = ReturnType<typeof mintLink>

/** A link with which a person sets a password or confirms an address, and its row. */
export const mintLink = (platform: Platform, now: number, path: LinkPath = passwordLinkPath) => {
  const { key, link, hash, expiresAt } = mintSecretLink(platform, now, { ...passwordLink, path })
  const id = recordIdOfKey('lnk_', key)
  return {
    id,
    link,
    expiresAt,
    /** `email` is the address that a link for `emailLinkPath` confirms. */
    rowFor: (userId: string, email: string | null = null): PasswordLink => ({
      id,
      userId,
      hash,
      createdAt: now,
      expiresAt,
      endedAt: null,
      email,
    }),
  }
}

type Invitation = { readonly email: string; readonly name: string; readonly isOperator: boolean }

/**
 * Creates a user without a password, and a link with which they set one.
 * @throws invalid_request for a malformed field or an address that is taken
 */
export const inviteUser: Operation<Invitation, MadeLink> = async (platform, trace, actor, input) => {
  const email = normalizeEmail(input.email)
  const { name, fault } = typedName(input.name)
  const refusal = refusalOfFaults({
    email: email === null ? emailFault(input.email) : null,
    name: fault,
  })
  if (email === null || refusal !== null) throw refusal ?? badInput('email', taken)
  const now = platform.clock.now()
  const { link, expiresAt, rowFor } = mintLink(platform, now)
  const id = recordId('usr_', platform.random.uuid(now))
  const stranger = newUser({ id, externalId: null, email, name, pictureUrl: null, status: 'active' }, now)
  const user = { ...stranger, isOperator: input.isOperator }
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    if ((await q.users.byEmail(email)) !== null) return badInput('email', taken)
    await q.users.insert(user)
    await q.passwordLinks.insert(rowFor(user.id))
    await record({ action: 'user.invited', target: user.id, detail: { operator: input.isOperator } })
    return { user, link, expiresAt }
  })
}

const taken = 'A user with this email address already exists. Make a reset link for them instead.'
const noPasswords = 'PASSWORD_FOR does not let this user sign in with a password, so a link would be of no use.'

/**
 * Makes a link with which a user sets a new password. Earlier links of the user end. The password and the sessions stay until the
 * link is used.
 * @throws invalid_request for an unknown or disabled user, and one who may not use a password
 */
export const createResetLink: Operation<string, MadeLink> = async (platform, trace, actor, userId) => {
  const now = platform.clock.now()
  const { link, expiresAt, rowFor } = mintLink(platform, now)
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const user = await personOf(q, { userId }) // locked, so that the newest link is the one that works
    if (user instanceof PlatformError) return user
    if (user.status !== 'active') return badInput('user', 'The user is disabled. Enable the user first.')
    if (!mayUsePassword(platform.signIn, user.isOperator)) return badInput('user', noPasswords)
    await q.passwordLinks.endAll(user.id, now)
    await q.passwordLinks.insert(rowFor(user.id))
    await record({ action: 'user.reset_link_created', target: user.id })
    return { user, link, expiresAt }
  })
}

/**
 * Asks for a link by mail. Whether the address has a user, and whether they get a link, is decided when the mail is sent, so every
 * address gets the same answer after the same work.
 * @throws invalid_request for a malformed address
 */
export const askForLink = async (platform: Platform, trace: Trace, address: string): Promise<void> => {
  const email = normalizeEmail(address)
  if (email === null) throw badInput('email', emailFault(address))
  const now = platform.clock.now()
  const id = recordId('eml_', platform.random.uuid(now))
  await decide(platform, trace, { actor: anonymous, now }, async ({ q }) => {
    await q.mails.insert({ ...unsentMail(id, 'reset_asked', now), address: email })
  })
}

type FoundLink = { readonly row: PasswordLink; readonly user: User }

/** The link that a secret belongs to, if it works on this page, with its person. Only who has the whole link learns why it does not. */
const liveLink = async (
  q: Queries,
  secret: string,
  now: number,
  path: LinkPath,
): Promise<FoundLink | CountedRefusal> => {
  const parsed = parseSecret('passwordLink', secret)
  const row = parsed && (await findPasswordLink(q, { key: recordIdOfKey('lnk_', parsed.key), hash: parsed.hash }))
  if (row === null || (row.email === null) !== (path === passwordLinkPath)) return deadLink('unknown')
  const end = endOfLink(row, now)
  const user = await q.users.byId(row.userId)
  if (end !== null || user?.status !== 'active') return deadLink(end ?? 'ended')
  return { row, user }
}

/** The refusal is counted, because anybody can send any number of texts that are no links. */
const deadLink = (end: keyof typeof deadLinkWords) =>
  new CountedRefusal(refuse('version_not_eligible', { message: deadLinkWords[end] }), {
    actor: anonymous,
    action: 'user.use_link',
  })

/**
 * The person of a link, and the address that it confirms. Consumes nothing, because programs that look at mail open links too.
 * @throws version_not_eligible for a link that does not work
 */
export const openPasswordLink = async (
  platform: Platform,
  trace: Trace,
  secret: string,
  path: LinkPath = passwordLinkPath,
): Promise<FoundLink> => {
  const now = platform.clock.now()
  const found = await liveLink(platform.database.queries, secret, now, path)
  return found instanceof CountedRefusal ? await settle(platform, trace, found, now) : found
}

type ChosenPassword = { readonly link: string; readonly password: string; readonly repeated: string }

/**
 * Sets the password of the person of a link. All links of the person end, and so do all sessions. No session is made, and second
 * factors stay. The slow hash is computed before the transaction, only for a link that works, and one at a time for each link.
 * @throws version_not_eligible for a link that does not work, invalid_request for a password that cannot be used, rate_limited while
 *   another use of the link waits for its hash
 */
export const usePasswordLink = async (platform: Platform, trace: Trace, input: ChosenPassword): Promise<User> => {
  const { row } = await openPasswordLink(platform, trace, input.link)
  const fault = refusalOfFaults({
    password: newPasswordFault(input.password),
    repeated: normalPassword(input.password) === normalPassword(input.repeated) ? null : 'The two passwords differ.',
  })
  if (fault !== null) throw fault
  const hash = await hashOnceAtATime(platform, row.id, input.password)
  return await decide(platform, trace, { actor: anonymous }, async (change) => {
    const { q, now, record } = change
    const found = await liveLink(q, input.link, now, passwordLinkPath)
    if (found instanceof CountedRefusal) return found
    const { user, row: link } = found
    if (!(await q.passwordLinks.use(link.id, now))) return deadLink('used')
    if (!(await q.users.replacePassword(user.id, user.passwordHash, hash, now))) return deadLink('ended')
    await q.users.confirm(user.id)
    await endSignIns(change, user.id)
    await record({ actor: { kind: 'user', id: user.id }, action: 'user.password_set', target: user.id })
    return user
  })
}

const hashOnceAtATime = async ({ running, passwords }: Platform, linkId: string, password: string) => {
  if (running.has(linkId)) throw refuse('rate_limited', { retryAfterSeconds: 1 })
  running.add(linkId)
  try {
    return await passwords.hash(password)
  } finally {
    running.delete(linkId)
  }
}

/**
 * Asks for a link at a new address, which confirms it. Earlier links of the person end. Whether somebody else has the address is not
 * told: then no mail is sent.
 * @throws invalid_request for an address that is malformed or their own, and for people whose address the builder sets
 */
export const askForEmail = async (platform: Platform, trace: Trace, caller: SessionCaller, address: string) => {
  const email = normalizeEmail(address)
  if (email === null) throw badInput('email', emailFault(address))
  await decide(platform, trace, { actor: actorOf(caller) }, async ({ q, now, record }) => {
    const user = await q.users.byId(caller.user.id)
    if (user === null || user.externalId !== null) return badInput('email', 'The builder sets your address.')
    if (user.email === email) return badInput('email', 'This is your address already.')
    await q.passwordLinks.endAll(user.id, now)
    await record({ action: 'user.email_asked', target: user.id, mail: { kind: 'email_asked', to: email } })
    return null
  })
}

/**
 * Gives the person of a link the address that it confirms. Sessions stay, all links of the person end, and the old address is told.
 * @throws version_not_eligible for a link that does not work, or whose address somebody else has by now
 */
export const useEmailLink = async (platform: Platform, trace: Trace, secret: string): Promise<User> =>
  await decide(platform, trace, { actor: anonymous }, async (change) => {
    const { q, now } = change
    const found = await liveLink(q, secret, now, emailLinkPath)
    if (found instanceof CountedRefusal) return found
    const { user, row } = found
    const { email } = row
    if (email === null || user.externalId !== null) return deadLink('ended')
    if ((await q.users.byEmail(email)) !== null) return deadLink('taken')
    if (!(await q.passwordLinks.use(row.id, now))) return deadLink('used')
    return (await changeUser(change, user, { email }, { by: { kind: 'user', id: user.id } })).user
  })
