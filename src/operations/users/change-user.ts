// Changes of a user by operators: name, address and operator rights. passwords.ts and set-user-status.ts have the others.

import type { Queries, User } from '../../../db/database.ts'
import { PlatformError } from '../../domain/errors.ts'
import { personNameFault } from '../../domain/name.ts'
import { normalizeEmail } from '../../domain/user.ts'
import type { Rule } from '../acting-as.ts'
import { badInput, decide, decideToEnd, type Operation, refuseFault } from '../decision.ts'
import { knownUser } from './find-user.ts'

type NewUserName = { readonly email: string; readonly name: string }

/**
 * Gives a user another name. The audit row does not contain it: the audit has no names of people.
 * @throws invalid_request for an unknown address or a name that cannot be shown
 */
export const renameUser: Operation<NewUserName, User> = async (platform, trace, actor, input) => {
  const name = input.name.trim()
  refuseFault('name', personNameFault(name))
  return await decide(platform, trace, actor, async ({ q, now, record }) => {
    const user = await knownUser(q, input.email)
    if (user instanceof PlatformError) return user
    if (user.name === name) return user
    await q.users.change(user.id, { name }, now)
    await record({ action: 'user.renamed', target: user.id })
    return { ...user, name, updatedAt: now }
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
  return await decide(platform, trace, actor, async ({ q, now, record }) => {
    const user = await knownUser(q, input.email)
    if (user instanceof PlatformError) return user
    if (user.email === email) return user
    if ((await q.users.byEmail(email)) !== null)
      return badInput('to', 'A user with the new email address already exists.')
    await q.users.change(user.id, { email }, now)
    await q.passwordLinks.endAll(user.id, now) // they were given to the person of the old address
    await record({ action: 'user.email_changed', target: user.id, mail: { kind: 'email_changed', to: user.email } })
    return { ...user, email, updatedAt: now }
  })
}

type OperatorRights = { readonly userId: string; readonly isOperator: boolean }

/**
 * Grants or withdraws operator rights, from the next request on.
 * @throws invalid_request for an unknown user, and for the last operator
 */
export const setOperator: Operation<OperatorRights, User> = async (platform, trace, actor, input) => {
  const { userId, isOperator } = input
  const decided = isOperator ? decide : decideToEnd
  return await decided(platform, trace, actor, async ({ q, now, record }) => {
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
