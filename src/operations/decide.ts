import type { Queries, TransactionKind, TransactionOptions } from '../../db/database.ts'
import type { Awaitable } from '../domain/awaitable.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import type { Environment } from '../domain/app.ts'
import { eventTold, type News } from '../domain/webhook-event.ts'
import { KeyTaken, type TimeKey } from '../domain/time-key.ts'
import {
  type Actor,
  type AskedMail,
  auditEvent,
  type AuditFacts,
  auditStamp,
  followingStamp,
  lazyAuditStamp,
  putEvents,
  recordEvent,
  tellByMail,
} from './audit/event.ts'
import type { TokenKind } from '../runtime/metrics.ts'
import type { Platform, Trace } from './platform.ts'
import { type RowKey, rowKey } from '../domain/identifier.ts'
import { graceFault } from '../domain/credential.ts'
import {
  hashSecret,
  mintSecret,
  secretDigits,
  type SecretHash,
  type TimeKeyedKind,
  type UuidKeyedKind,
} from '../domain/secret.ts'

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
  /** Writes a webhook event for one app, which needs no audit row of its own: what it tells was done to something else. */
  readonly tell: (place: { readonly appId: string; readonly environment: Environment }, news: News) => Promise<void>
}

/** Prepares everything for a change that a transaction must not make itself. The result opens the change inside it. */
export const prepareChange = (platform: Platform, trace: Trace, actor: Actor, now = platform.clock.now()) => {
  const { mailer } = platform
  const stamp = lazyAuditStamp(platform, trace, now)
  return (q: Queries): OpenChange => {
    let recorded = 0
    const record: OpenChange['record'] = async ({ mail, ...facts }) => {
      const ownStamp = followingStamp(stamp(), recorded)
      recorded += 1
      await recordEvent(q, ownStamp, { actor, ...facts })
      if (mailer !== null) await tellByMail(q, ownStamp, { actor, ...facts }, mail)
    }
    const tell: OpenChange['tell'] = async (place, news) => {
      const { id, at } = followingStamp(stamp(), recorded)
      recorded += 1
      await putEvents(q, [eventTold(id, place, news)], at)
    }
    return { q, now, record, tell }
  }
}

/** Whose decision it is, and how it is made. */
type Deciding<T> = Pick<TransactionOptions<unknown>, 'isLong'> & {
  readonly actor: Actor
  /**
   * Epoch milliseconds, for rows that were prepared before. A row and its audit row must have one time: a restore finds redirect
   * URIs and webhook secrets by it (`db/restore/ends.ts`).
   */
  readonly now?: number
  /**
   * Other transactions need not wait for one that is `guarded` or `conditional`. What it relies on is locked as it is read, changed by
   * conditional writes, or checked again whenever what it issued is used.
   */
  readonly kind?: TransactionKind
  /**
   * The work ends access, always or with these values. On a full disk it may use the room that is reserved for this; a refusal is then
   * `unavailable`.
   */
  readonly endsAccess?: boolean | ((value: T) => boolean)
}

/** The options of a transaction that others need not wait for. */
export const guarded = { kind: 'guarded' } as const

/** Decides inside a transaction. It returns a value or a refusal, and what it wrote until then is kept: a revoked grant, its audit row. */
type Work<T> = (change: OpenChange) => Awaitable<T | Refusal>

/** Runs the work in one transaction. Once that is durable, returns its value or throws its refusal. */
export const decide = async <T>(
  platform: Platform,
  trace: Trace,
  { actor, now = platform.clock.now(), kind, endsAccess, isLong }: Deciding<T>,
  work: Work<T>,
): Promise<T> => {
  const open = prepareChange(platform, trace, actor, now)
  const outcome = await platform.database.transaction((q) => work(open(q)), {
    kind,
    isLong,
    endsAccess:
      endsAccess === undefined || endsAccess === false
        ? undefined
        : (outcome) => !isRefusal(outcome) && (endsAccess === true || endsAccess(outcome)),
  })
  return isRefusal(outcome) ? await settle(platform, trace, outcome, now) : outcome
}

/** What a decision returns instead of a value. */
type Refusal = PlatformError | CountedRefusal | ReusedSecret

const isRefusal = (outcome: unknown): outcome is Refusal =>
  outcome instanceof PlatformError || outcome instanceof CountedRefusal || outcome instanceof ReusedSecret

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
 * Throws a refusal. This is where refusals are counted: after the commit, because the body of a transaction may run more than once.
 */
export const settle = async (
  platform: Platform,
  trace: Trace,
  refusal: Refusal,
  now = platform.clock.now(),
): Promise<never> => {
  if (refusal instanceof ReusedSecret) {
    platform.observe.reused(refusal.tokenKind)
    throw refuse('invalid_grant')
  }
  if (refusal instanceof PlatformError) throw refusal
  const { error, facts } = refusal
  const event = auditEvent(auditStamp(platform, trace, now), { ...facts, refusedWith: error.code })
  if (platform.refusals.admit(event)) {
    await platform.database.transaction((q) => q.audit.insert(event), guarded)
  }
  throw error
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
  return also.length === 0 ? first : refuse(first.code, { ...first.facts, message: first.message, also })
}

/**
 * An operation that an operator, an owner or the system asks for. `actor` is who, and `trace` where from; the audit has
 * both. Whether the actor may is checked before, by the command line or by `actingAs`.
 */
export type Operation<Input, Answer> = (platform: Platform, trace: Trace, actor: Actor, input: Input) => Promise<Answer>

/** The key of the row, the secret, which only the answer shows, and its hash, which is all that is stored. */
type New<Key> = { readonly key: Key; readonly secret: string; readonly hash: SecretHash }

/** What is random about a new secret: made before the transaction that stores its row. `now` is epoch milliseconds. */
export const newSecret = ({ random }: Platform, kind: UuidKeyedKind, now: number): New<RowKey> => {
  const key = rowKey(random.uuid(now))
  const secret = mintSecret({ kind, key, digits: random.digits(secretDigits) })
  return { key, secret, hash: hashSecret(secret) }
}

/** The same for the kinds whose key is a number. */
export const newToken = ({ random }: Platform, kind: TimeKeyedKind, now: number): New<TimeKey> => {
  const key = random.timeKey(now)
  const secret = mintSecret({ kind, key, digits: random.digits(secretDigits) })
  return { key, secret, hash: hashSecret(secret) }
}

/**
 * When the secrets that a rotation replaces end, in epoch milliseconds.
 * @throws invalid_request if it is not a whole number of hours that a grace period may have
 */
export const endOfGrace = (graceHours: number, now: number): number => {
  refuseFault('graceHours', graceFault(graceHours))
  return now + graceHours * 3_600_000
}
