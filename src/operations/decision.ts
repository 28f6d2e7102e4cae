import type { Database, Queries, TransactionOptions } from '../../db/database.ts'
import type { Awaitable } from '../domain/awaitable.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { KeyTaken } from '../domain/time-key.ts'
import { type Actor, type AuditFacts, type AuditStamp, auditEvent } from './audit/event.ts'
import type { Platform, TokenKind, Trace } from './platform.ts'

/**
 * What a transaction decided. A refusal is data, not an exception: what the transaction wrote (a revoked grant, its audit
 * event) is committed first, and then the error is thrown.
 */
export type Decision<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly error: PlatformError }

/** The work succeeded with this value. */
export const done = <T>(value: T): Decision<T> => ({ kind: 'done', value })
/** The work refused; what it wrote so far is kept. */
export const refused = (error: PlatformError): Decision<never> => ({ kind: 'refused', error })

/** Runs the work in one transaction. Once that is durable, returns its value or throws its refusal. */
export const decide = async <T>(
  database: Database,
  work: (q: Queries) => Awaitable<Decision<T>>,
  options?: TransactionOptions<Decision<T>>,
): Promise<T> => {
  const decision = await database.transaction(work, options)
  if (decision.kind === 'refused') throw decision.error
  return decision.value
}

/**
 * Like `decide`, for work that ends access. On a full disk it may use the room that is reserved for this; a refusal is
 * then `unavailable`.
 */
export const decideToEnd = async <T>(database: Database, work: (q: Queries) => Awaitable<Decision<T>>): Promise<T> =>
  await decide(database, work, toEnd)

/**
 * Handles the failure of a transaction that inserts rows under a fresh key. If a row has that key already, nothing was
 * written, and `again` repeats the operation, which takes the next key.
 */
export const ifKeyTaken =
  <T>(again: () => Promise<T>) =>
  async (error: unknown): Promise<T> => {
    if (error instanceof KeyTaken) return await again()
    throw error
  }

/** The options of a transaction that ends access. */
export const toEnd = { endsAccess: ({ kind }: { readonly kind: string }) => kind === 'done' } as const

/** A refusal that goes into the audit log, unless too many like it came in this minute. */
export type CountedRefusal = {
  readonly kind: 'counted'
  readonly error: PlatformError
  readonly facts: Omit<AuditFacts, 'refusedWith'>
}

/** The work refused, and `settle` records it. */
export const counted = (error: PlatformError, facts: CountedRefusal['facts']): CountedRefusal => ({
  kind: 'counted',
  error,
  facts,
})

/** A spent secret was presented again. What that ends has been ended and recorded; `settle` counts it. */
export type ReusedSecret = { readonly kind: 'reused'; readonly tokenKind: TokenKind }

/**
 * Returns the value of a committed decision or throws its refusal. This is where refusals are counted: after the commit,
 * because the body of a transaction may run more than once.
 */
export const settle = async <T>(
  platform: Platform,
  stamp: () => AuditStamp,
  decision: Decision<T> | CountedRefusal | ReusedSecret,
): Promise<T> => {
  if (decision.kind === 'done') return decision.value
  if (decision.kind === 'reused') {
    platform.observe.reused(decision.tokenKind)
    throw refuse('invalid_grant')
  }
  if (decision.kind === 'counted') {
    const event = auditEvent(stamp(), { ...decision.facts, refusedWith: decision.error.code })
    if (platform.refusals.admit(event)) await platform.database.transaction((q) => q.audit.insert(event))
  }
  throw decision.error
}

/** The refusal of invalid input from an operator or owner: malformed, taken, unknown or in the wrong state. */
export const badInput = (param: string, message: string): PlatformError => refuse('invalid_request', { param, message })

/**
 * An operation that an operator, an owner or the system asks for. `actor` is who, and `trace` where from; the audit has
 * both. Whether the actor may is checked before, by the command line or by `actingAs`.
 */
export type Operation<Input, Answer> = (platform: Platform, trace: Trace, actor: Actor, input: Input) => Promise<Answer>
