// Changes of a user. `changeUser` is the only way to another address or status, whoever changes it: the desk and the command line, the
// builder, or the person. It has everything that follows from such a change. passwords.ts has the passwords.

import type { Queries, User } from '../../../db/database.ts'
import { PlatformError } from '../../domain/errors.ts'
import { typedName } from '../../domain/entered-name.ts'
import { keyOfUuidTime } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { normalizeEmail } from '../../domain/user.ts'
import type { Rule } from '../acting-as.ts'
import type { Actor } from '../audit/event.ts'
import { badInput, decide, type OpenChange, type Operation, refuseFault } from '../decide.ts'
import { countOf, endSignIns } from '../end-access.ts'
import { knownUser } from './find-user.ts'

/** What changes of a user; what is left out stays. */
type UserChanges = Partial<Pick<User, 'email' | 'name' | 'pictureUrl' | 'status'>>

/** What the audit says about a change. */
type AboutChange = {
  /** Who made it, if not the actor of the transaction. */
  readonly by?: Actor
  /** What becomes of the apps of a user who is disabled. */
  readonly apps?: Readonly<Record<string, unknown>>
}

/**
 * Changes a user in the transaction of a caller who may, and who has read the user in it. Nobody else may have the new address. With an
 * address, the links that were given to its person end, and the old one is told. Disabling ends everything that signs the user in and
 * the invitations that they made, and what was issued for them stops working until they are enabled. `ended` is what has ended, and `stopped` what has stopped.
 */
export const changeUser = async (
  change: OpenChange,
  before: User,
  to: UserChanges,
  { by, apps = { apps: 'keep' } }: AboutChange = {},
) => {
  const { q, now } = change
  const record: OpenChange['record'] = async (facts) => await change.record({ ...(by && { actor: by }), ...facts })
  const changes = { ...before, ...to }
  const fields = (['email', 'name', 'pictureUrl', 'status'] as const).filter((name) => changes[name] !== before[name])
  if (fields.length === 0) return { user: before, ...nothingEnded }
  const { email, name, pictureUrl, status } = changes
  await q.users.change(before.id, { email, name, pictureUrl, status }, now)
  const user = { ...changes, updatedAt: now }
  const target = user.id
  let outcome: UserEnded = nothingEnded
  if (fields.includes('status') && status === 'disabled') {
    outcome = await stopUser(change, before)
    await record({ action: 'user.disabled', target, detail: { ...apps, ...outcome.ended, ...outcome.stopped } })
  } else if (fields.includes('status')) await record({ action: 'user.enabled', target })
  if (fields.includes('email')) {
    await q.passwordLinks.endAll(target, now)
    await q.identities.freeAddressOf(target)
    await record({ action: 'user.email_changed', target, mail: { kind: 'email_changed', to: before.email } })
  }
  const others = fields.filter((field) => field === 'name' || field === 'pictureUrl')
  if (others.length > 0) await record({ action: 'user.changed', target, detail: { fields: others } })
  return { user, ...outcome }
}

const nothingEnded = {
  ended: { sessions: 0, embeddedSessions: 0 },
  stopped: { grants: 0, userTokens: 0 },
}
export type UserEnded = Readonly<typeof nothingEnded>

/** An embedded session ends with the session that it was opened in. Grants are not revoked: they work again with the user. */
const stopUser = async (change: OpenChange, { id }: User): Promise<UserEnded> => {
  const { q, now } = change
  const since = keyOfUuidTime(now - maximumLifetimes.embeddedSession * 1000)
  const embeddedSessions = await q.access.countEmbedded({ kind: 'user', userId: id }, since, now)
  const sessions = await endSignIns(change, id)
  await q.appInvitations.endAllBy(id, now)
  const { grants, userTokens } = countOf(await q.access.openGrants({ kind: 'user', userId: id }, '', 10_000), now)
  return { ended: { sessions, embeddedSessions }, stopped: { grants, userTokens } }
}

type NewUserName = { readonly email: string; readonly name: string }

/**
 * Gives a user another name. The audit row does not contain it: the audit has no names of people.
 * @throws invalid_request for an unknown address or a name that cannot be shown
 */
export const renameUser: Operation<NewUserName, User> = async (platform, trace, actor, input) => {
  const { name, fault } = typedName(input.name)
  refuseFault('name', fault)
  return await decide(platform, trace, { actor }, async (change) => {
    const user = await knownUser(change.q, input.email)
    return user instanceof PlatformError ? user : (await changeUser(change, user, { name })).user
  })
}

type NewUserEmail = { readonly email: string; readonly to: string }

/**
 * Gives a user another address to sign in with. Sessions and grants stay, because they belong to the user.
 * @throws invalid_request for an unknown address, and a new one that is malformed or taken
 */
export const setUserEmail: Operation<NewUserEmail, User> = async (platform, trace, actor, input) => {
  const email = normalizeEmail(input.to)
  if (email === null) throw badInput('to', 'The new email address is malformed.')
  return await decide(platform, trace, { actor }, async (change) => {
    const user = await knownUser(change.q, input.email)
    if (user instanceof PlatformError) return user
    const isTaken = user.email !== email && (await change.q.users.byEmail(email)) !== null
    if (isTaken) return badInput('to', 'A user with the new email address already exists.')
    return (await changeUser(change, user, { email })).user
  })
}

type OperatorRights = { readonly userId: string; readonly isOperator: boolean }

/**
 * Grants or withdraws operator rights, from the next request on.
 * @throws invalid_request for an unknown user, and for the last operator
 */
export const setOperator: Operation<OperatorRights, User> = async (platform, trace, actor, input) => {
  const { userId, isOperator } = input
  return await decide(platform, trace, { actor, endsAccess: !isOperator }, async ({ q, now, record }) => {
    const user = await q.users.byId(userId)
    if (user === null) return badInput('user', 'There is no such user.')
    if (user.isOperator === isOperator) return user
    const last = isOperator ? null : await refusalIfLastOperator(q, userId)
    if (last !== null) return last
    await q.users.change(userId, { isOperator }, now)
    await record({ action: isOperator ? 'user.operator_granted' : 'user.operator_withdrawn', target: userId })
    return { ...user, isOperator, updatedAt: now }
  })
}

/**
 * The rule for withdrawing operator rights on the desk: an operator cannot withdraw their own rights or those of the last
 * operator. It is checked in the transaction of the change.
 */
export const leavesAnOperator =
  (operatorId: string, userId: string): Rule =>
  async (q) =>
    operatorId === userId ? badInput('user', ownRights) : await refusalIfLastOperator(q, userId)

/** The refusal when no other active operator exists; null when one does. */
export const refusalIfLastOperator = async (q: Queries, userId: string): Promise<PlatformError | null> => {
  const remaining = (await q.users.activeOperators(2)).filter(({ id }) => id !== userId)
  return remaining.length > 0 ? null : badInput('user', lastOperator)
}

const ownRights = 'You cannot remove your own operator rights: ask another operator.'
const lastOperator = 'This is the last operator who can sign in: make somebody else an operator first.'
