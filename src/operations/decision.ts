import type { Database, Queries, TransactionOptions } from '../../db/database.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'

/**
 * What a transaction decided. A refusal is data, not an exception: what it leaves behind (an audit row, a revoked
 * family) commits with it, and only then is the error thrown.
 */
export type Decision<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly error: PlatformError }

/** The work succeeded with this value. */
export const done = <T>(value: T): Decision<T> => ({ kind: 'done', value })
/** The work refused; what it wrote so far is kept. */
export const refused = (error: PlatformError): Decision<never> => ({ kind: 'refused', error })

/** Runs the work in one transaction and gives its value once that is durable; throws the refusal likewise. */
export const decide = async <T>(
  database: Database,
  work: (q: Queries) => Promise<Decision<T>>,
  options?: TransactionOptions<Decision<T>>,
): Promise<T> => {
  const decision = await database.transaction(work, options)
  if (decision.kind === 'refused') throw decision.error
  return decision.value
}

/**
 * Likewise for work that ends access: on a full disk, too, as long as there is room that was kept for it. What refuses there
 * is `unavailable`.
 */
export const decideToEnd = async <T>(database: Database, work: (q: Queries) => Promise<Decision<T>>): Promise<T> =>
  await decide(database, work, { endsAccess: ({ kind }) => kind === 'done' })

/** Input of an operator or owner that does not hold: malformed, taken, missing or in the wrong state. */
export const badInput = (param: string, message: string): PlatformError => refuse('invalid_request', { param, message })
