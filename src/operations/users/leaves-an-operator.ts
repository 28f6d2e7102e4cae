import type { Queries } from '../../../db/database.ts'
import type { PlatformError } from '../../domain/errors.ts'
import { badInput } from '../bad-input.ts'

/**
 * Whether an operator may take this user's rights away on the desk: not their own, and not the last that there are, or
 * nobody could open the desk again. To be asked in the transaction of the change. At the command line it may be done.
 */
export const leavesAnOperator =
  (operatorId: string, userId: string) =>
  async (q: Queries): Promise<PlatformError | null> => {
    if (operatorId === userId) return badInput('user', ownRights)
    const remaining = (await q.users.activeOperators(2)).filter(({ id }) => id !== userId)
    return remaining.length > 0 ? null : badInput('user', lastOperator)
  }

const ownRights = 'You cannot take your own rights away: ask another operator.'
const lastOperator = 'This is the last operator who can sign in: make somebody else an operator first.'
