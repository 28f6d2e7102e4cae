import type { AuditEvent } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import type { AnnouncedAction } from '../../domain/webhook-event.ts'
import type { Platform, Trace } from '../platform.ts'

export type Actor =
  | { readonly kind: 'app'; readonly id: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'operator'; readonly id: string }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'system' }

/** The part of an event that is known before the transaction: its ID, time and origin. */
export type AuditStamp = Pick<AuditEvent, 'id' | 'at' | 'requestId' | 'address'>

export type AuditFacts = {
  readonly actor: Actor
  readonly action: string
  readonly appId?: string | null
  readonly environment?: Environment | null
  readonly target?: string | null
  /** The error code of a refusal; omitted when the action was done. */
  readonly refusedWith?: string
  /** IDs, states and counts; never a secret, or a name or email address of a person. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Made before the transaction, which must not use the clock or randomness. `now` is epoch milliseconds. */
export const auditStamp = (platform: Platform, trace: Trace, now: number): AuditStamp => ({
  id: `aud_${platform.random.uuidHex(now)}`,
  at: now,
  requestId: trace.requestId,
  address: trace.address,
})

/**
 * A stamp that is made when it is first asked for: most calls that may leave an event leave none. A transaction body that
 * runs again gets the same stamp.
 */
export const lazyAuditStamp = (platform: Platform, trace: Trace, now: number): (() => AuditStamp) => {
  let stamp: AuditStamp | null = null
  return () => (stamp ??= auditStamp(platform, trace, now))
}

/**
 * The stamp of a further event in the same transaction, where the number of events is not known before. It adds `count`
 * to the random end of the ID, so that no randomness is needed inside; 0 gives the stamp itself.
 */
export const followingStamp = (stamp: AuditStamp, count: number): AuditStamp => {
  const tail = (Number.parseInt(stamp.id.slice(-tailDigits), 16) + count) % 16 ** tailDigits
  return { ...stamp, id: stamp.id.slice(0, -tailDigits) + tail.toString(16).padStart(tailDigits, '0') }
}
/** 48 bits. */
const tailDigits = 12

/**
 * The row of an event, for `q.audit.insert`; omitted facts are null. An action that webhook endpoints hear of is of type
 * `never` here: `announce` (webhooks/events.ts) writes its row together with the webhook events.
 */
export const auditEvent = <Action extends string>(
  stamp: AuditStamp,
  facts: AuditFacts & { readonly action: Action } & (Action extends AnnouncedAction ? never : unknown),
): AuditEvent => auditRow(stamp, facts)

/** Only for `auditEvent` and `announce`. */
export const auditRow = (stamp: AuditStamp, facts: AuditFacts): AuditEvent => ({
  ...stamp,
  actorKind: facts.actor.kind,
  actorId: 'id' in facts.actor ? facts.actor.id : null,
  appId: facts.appId ?? null,
  environment: facts.environment ?? null,
  action: facts.action,
  target: facts.target ?? null,
  outcome: facts.refusedWith === undefined ? 'done' : 'refused',
  reason: facts.refusedWith ?? null,
  detail: facts.detail === undefined ? null : JSON.stringify(facts.detail),
})
