import type { Door } from '../../../http/door.ts'
import { inspectUser } from '../../../operations/users/find-user.ts'
import { leavesAnOperator, setOperator } from '../../../operations/users/change-user.ts'
import { type AppsChoice, type DisabledUser, setUserStatus } from '../../../operations/users/set-user-status.ts'
import { changeBy } from '../operator.ts'

export type UserStep = 'enable' | 'make-operator' | 'withdraw-operator'

/**
 * What an operator does about somebody's rights. Taking some away must leave an operator.
 * @throws route_not_found for an unknown user; invalid_request for one's own rights, and for those of the last operator
 */
export const takeUserStep = async (door: Door, request: Request, id: string, step: UserStep) => {
  const { email } = await inspectUser(door.platform, id)
  const giving = changeBy(door, request)
  const taking = changeBy(door, request, (operatorId) => leavesAnOperator(operatorId, id))
  switch (step) {
    case 'enable':
      return await setUserStatus(giving.platform, giving.trace, giving.actor, { email, status: 'active' })
    case 'make-operator':
      return await setOperator(giving.platform, giving.trace, giving.actor, { userId: id, isOperator: true })
    case 'withdraw-operator':
      return await setOperator(taking.platform, taking.trace, taking.actor, { userId: id, isOperator: false })
    default:
      return step satisfies never
  }
}

/**
 * Disables a user, with the choice of what happens to their apps.
 * @throws like `takeUserStep`, and for a new owner of the apps who cannot be one
 */
export const disableUser = async (
  door: Door,
  request: Request,
  id: string,
  apps: AppsChoice,
): Promise<DisabledUser> => {
  const { email } = await inspectUser(door.platform, id)
  const { platform, trace, actor } = changeBy(door, request, (operatorId) => leavesAnOperator(operatorId, id))
  return await setUserStatus(platform, trace, actor, { email, status: 'disabled', apps })
}
