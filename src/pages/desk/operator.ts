import type { Door } from '../../http/door.ts'
import { isOperator, type Rule } from '../../operations/acting-as.ts'
import { type Change, changeFor, changeOnceFor, type Right } from '../change.ts'

/**
 * What an operation needs to act for the operator who sent this form. In the transaction of the change they must still be
 * an operator in a live session, and what else is asked must hold.
 */
export const changeBy = (door: Door, request: Request, right: Right = nothingMore): Change<'operator'> =>
  changeFor({ kind: 'operator', door, request }, (userId) => both(isOperator(userId), right(userId)))

/** The same for a form that may act only once. */
export const changeOnceBy = (door: Door, request: Request): Change<'operator'> =>
  changeOnceFor({ kind: 'operator', door, request }, isOperator)

const nothingMore: Right = () => async () => null

const both =
  (first: Rule, second: Rule): Rule =>
  async (q) =>
    (await first(q)) ?? (await second(q))
