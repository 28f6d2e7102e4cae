import type { Queries } from '../../../db/database.ts'
import type { PlatformError } from '../../domain/errors.ts'
import { badInput } from '../decision.ts'

/**
 * Whether an operator may take this user's rights away on the desk: not their own, and not those of the last operator.
 * To be asked in the transaction of the change.
 */
export const leavesAnOperator =
  (operatorId: string, userId: string) =>
  async (q: Queries): Promise<PlatformError | null> =>
    operatorId === userId ? badInput('user', ownRights) : await refusalIfLastOperator(q, userId)

/** The refusal when nobody else could open the desk without this user; null when somebody could. */
export const refusalIfLastOperator = async (q: Queries, userId: string): Promise<PlatformError | null> => {
  const remaining = (await q.users.activeOperators(2)).filter(({ id }) => id !== userId)
  return remaining.length > 0 ? null : badInput('user', lastOperator)
}

const ownRights = 'You cannot take your own rights away: ask another operator.'
const lastOperator = 'This is the last operator who can sign in: make somebody else an operator first.'
