import type { Queries, TransactionOptions } from '../../db/database.ts'
import type { Awaitable } from '../domain/awaitable.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import { KeyTaken } from '../domain/time-key.ts'
import {
  type Actor,
  type AuditFacts,
  type AuditStamp,
  auditEvent,
  auditStamp,
  followingStamp,
  recordEvent,
} from './audit/event.ts'
import { type AskedMail, tellByMail } from './mails/outbox.ts'
import type { Platform, TokenKind, Trace } from './platform.ts'

/** What the body of a transaction works with. */
export type OpenChange = {
  readonly q: Queries
  /** Epoch milliseconds, read before the transaction. */
  readonly now: number
  /**
   * Writes the audit row of what was done or refused, and the webhook events and the mail that it causes. The actor is that of the
   * change unless the facts name another.
   */
  readonly record: (
    facts: Partial<Pick<AuditFacts, 'actor'>> & Omit<AuditFacts, 'actor'> & { readonly mail?: AskedMail | null },
  ) => Promise<void>
}

/** Prepares everything for a change that a transaction must not make itself. The result opens the change inside it. */
export const prepareChange = (platform: Platform, trace: Trace, actor: Actor, now = platform.clock.now()) => {
  const { mailer } = platform
  const stamp = auditStamp(platform, trace, now)
  return (q: Queries): OpenChange => {
    let recorded = 0
    const record: OpenChange['record'] = async ({ mail, ...facts }) => {
      recorded += 1
      const ownStamp = followingStamp(stamp, recorded - 1)
      await recordEvent(q, ownStamp, { actor, ...facts })
      if (mailer !== null) await tellByMail(q, ownStamp, { actor, ...facts }, mail)
    }
    return { q, now, record }
  }
}

/** Decides inside a transaction. It returns a value, or its refusal: what it wrote until then is kept. */
type Work<T> = (change: OpenChange) => Awaitable<T | PlatformError>

/**
 * Runs the work in one transaction for this actor. Once that is durable, returns its value or throws its refusal. A refusal
 * is returned and not thrown, so that what the transaction wrote (a revoked grant, its audit row) is committed.
 */
export const decide = async <T>(
  platform: Platform,
  trace: Trace,
  actor: Actor,
  work: Work<T>,
  options?: TransactionOptions<unknown>,
): Promise<T> => await decideAt(platform, trace, actor, platform.clock.now(), work, options)

/**
 * The same for a change whose rows were prepared before, at this time (epoch milliseconds). A row and its audit row must have
 * one time: a restore finds redirect URIs and webhook secrets by it (`db/restore/ends.ts`).
 */
export const decideAt = async <T>(
  platform: Platform,
  trace: Trace,
  actor: Actor,
  now: number,
  work: Work<T>,
  options?: TransactionOptions<unknown>,
): Promise<T> => {
  const open = prepareChange(platform, trace, actor, now)
  const outcome = await platform.database.transaction((q) => work(open(q)), options)
  if (outcome instanceof PlatformError) throw outcome
  return outcome
}

/** Like `decideAt`, beside other transactions; see `guardedTransaction`. */
export const decideGuardedAt = async <T>(
  platform: Platform,
  trace: Trace,
  actor: Actor,
  now: number,
  work: Work<T>,
): Promise<T> => await decideAt(platform, trace, actor, now, work, guarded)

/**
 * Like `decide`, for work that ends access. On a full disk it may use the room that is reserved for this; a refusal is
 * then `unavailable`.
 */
export const decideToEnd = async <T>(platform: Platform, trace: Trace, actor: Actor, work: Work<T>): Promise<T> =>
  await decide(platform, trace, actor, work, toEnd)

/** The same beside other transactions; see `guardedTransaction`. */
export const decideToEndGuarded = async <T>(
  platform: Platform,
  trace: Trace,
  actor: Actor,
  work: Work<T>,
): Promise<T> => await decide(platform, trace, actor, work, guardedToEnd)

/** The options of a transaction that ends access unless it refuses. */
const toEnd = {
  endsAccess: (outcome: unknown) => !(outcome instanceof PlatformError || outcome instanceof CountedRefusal),
} as const

const guarded = { kind: 'guarded' } as const
const conditional = { kind: 'conditional' } as const
export const longGuarded = { ...guarded, isLong: true } as const
export const guardedToEnd = { ...toEnd, ...guarded } as const

/**
 * A transaction that others need not wait for, on an engine that runs several at once. What its decision relies on is locked
 * as it is read, changed by conditional writes, or checked again whenever what it issued is used.
 */
export const guardedTransaction = <T>({ database }: Platform, work: (q: Queries) => Awaitable<T>): Promise<T> =>
  database.transaction(work, guarded)

/** The same where one change nearly always is all that is written; see `TransactionKind`. */
export const conditionalTransaction = <T>({ database }: Platform, work: (q: Queries) => Awaitable<T>): Promise<T> =>
  database.transaction(work, conditional)

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

/**
 * A refusal that goes into the audit log, unless too many like it came in this minute. `settle` records it after the
 * transaction, so a refusal that changes something records itself in the transaction instead.
 */
export class CountedRefusal {
  constructor(
    readonly error: PlatformError,
    readonly facts: Omit<AuditFacts, 'refusedWith'>,
  ) {}
}

/** A spent secret was presented again. What that ends has been ended and recorded; `settle` counts it. */
export class ReusedSecret {
  constructor(readonly tokenKind: TokenKind) {}
}

/**
 * Returns the value of a committed decision or throws its refusal. This is where refusals are counted: after the commit,
 * because the body of a transaction may run more than once.
 */
export const settle = async <T>(
  platform: Platform,
  stamp: () => AuditStamp,
  outcome: T | PlatformError | CountedRefusal | ReusedSecret,
): Promise<T> => {
  if (outcome instanceof CountedRefusal) {
    const event = auditEvent(stamp(), { ...outcome.facts, refusedWith: outcome.error.code })
    if (platform.refusals.admit(event)) await guardedTransaction(platform, (q) => q.audit.insert(event))
    throw outcome.error
  }
  if (outcome instanceof ReusedSecret) {
    platform.observe.reused(outcome.tokenKind)
    throw refuse('invalid_grant')
  }
  if (outcome instanceof PlatformError) throw outcome
  return outcome
}

/** The refusal of invalid input from an operator or owner: malformed, taken, unknown or in the wrong state. */
export const badInput = (param: string, message: string): PlatformError => refuse('invalid_request', { param, message })

/** @throws invalid_request if this input has a fault */
export const refuseFault = (param: string, fault: string | null): void => {
  if (fault !== null) throw badInput(param, fault)
}

/**
 * The refusal of an input with several fields; null without a fault. It is that of the first field at fault, with those of the
 * others, which the page of the form shows as well.
 */
export const refusalOfFaults = (faults: Readonly<Record<string, string | null>>): PlatformError | null => {
  const errors = Object.entries(faults).flatMap(([param, fault]) => (fault === null ? [] : [badInput(param, fault)]))
  const [first, ...also] = errors
  if (first === undefined) return null
  return also.length === 0 ? first : refuse('invalid_request', { ...first.facts, also })
}

/**
 * An operation that an operator, an owner or the system asks for. `actor` is who, and `trace` where from; the audit has
 * both. Whether the actor may is checked before, by the command line or by `actingAs`.
 */
export type Operation<Input, Answer> = (platform: Platform, trace: Trace, actor: Actor, input: Input) => Promise<Answer>
