import type { AuditAction } from '../../domain/audit-action.ts'
import type { AuditEvent, Queries, Mail } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { eventsToldBy, parseStoredKinds, type ToldEvent, type ToldFacts } from '../../domain/webhook-event.ts'
import type { Platform, Trace } from '../platform.ts'
import { isNews, isOperatorMail, linkMails, type MailKind, mailToldBy, teamMails } from '../../domain/mail.ts'

export type Actor =
  | { readonly kind: 'app'; readonly id: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'operator'; readonly id: string }
  /** The builder, by the ID of its service key. The row says `system` with that ID, so that old rows and new ones have the same kinds. */
  | { readonly kind: 'service'; readonly id: string }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'system' }

export const system: Actor = { kind: 'system' }
export const anonymous: Actor = { kind: 'anonymous' }

/** The part of an event that is known before the transaction: its ID, time and origin. */
type AuditStamp = Pick<AuditEvent, 'id' | 'at' | 'requestId' | 'address'>

export type AuditFacts = {
  readonly actor: Actor
  readonly action: AuditAction
  readonly appId?: string | null
  readonly environment?: Environment | null
  readonly target?: string | null
  /** The error code of a refusal; omitted when the action was done. */
  readonly refusedWith?: string
  /** IDs, states and counts; never a secret, or a name or email address of a person. */
  readonly detail?: Readonly<Record<string, unknown>>
  /** Whom and what it is about, for webhook events only: the audit row has no need of it. */
  readonly told?: ToldFacts
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
 * Writes the audit row of an action, its webhook events, and one delivery of each event for every endpoint that asked for
 * that kind. A disabled endpoint gets a delivery too: it is sent when the endpoint is enabled. Call it in the transaction
 * of the action, so that all are kept or none is. Most actions have no webhook event, and no event is written that no
 * endpoint asked for.
 */
export const recordEvent = async (q: Queries, stamp: AuditStamp, facts: AuditFacts): Promise<void> => {
  const row = auditEvent(stamp, facts)
  await q.audit.insert(row)
  await putEvents(q, eventsToldBy(row, facts.told), row.at)
}

/** Writes those webhook events that an endpoint asked for, each with its deliveries. */
export const putEvents = async (q: Queries, events: readonly ToldEvent[], at: number): Promise<void> => {
  for (const event of events) {
    const endpoints = await q.webhookEndpoints.ofPlace(event.appId, event.environment)
    const listening = endpoints.filter(({ kinds }) => parseStoredKinds(kinds, 'app').includes(event.kind))
    if (listening.length === 0) continue
    const position = await q.webhookEvents.put(event, at)
    await putDeliveries(q, position, listening, at)
  }
}

/** Writes a delivery of an event for each of these endpoints, due at this time. */
export const putDeliveries = async (
  q: Queries,
  position: number,
  endpoints: readonly { readonly id: string }[],
  at: number,
): Promise<void> => {
  for (const { id: endpointId } of endpoints) {
    const due = { state: 'pending', attempts: 0, nextAttemptAt: at } as const
    await q.webhookEvents.putDelivery({ position, endpointId, ...due })
  }
}

/** The audit row of an event; omitted facts are null. `recordEvent` writes it. */
export const auditEvent = (stamp: AuditStamp, facts: AuditFacts): AuditEvent => ({
  ...stamp,
  actorKind: facts.actor.kind === 'service' ? 'system' : facts.actor.kind,
  actorId: 'id' in facts.actor ? facts.actor.id : null,
  appId: facts.appId ?? null,
  environment: facts.environment ?? null,
  action: facts.action,
  target: facts.target ?? null,
  outcome: facts.refusedWith === undefined ? 'done' : 'refused',
  reason: facts.refusedWith ?? null,
  detail: facts.detail === undefined ? null : JSON.stringify(facts.detail),
})

/** A mail that an operation asks for itself: only it knows that the action is worth one, or where it goes. It asks for none with null. */
export type AskedMail = { readonly kind: MailKind; readonly to: string | null }

/**
 * Writes the mail that tells an action, if one does, in the transaction of the action. Its ID has the digits of the audit event. It is
 * made when it is sent, so a link in it exists only there and as a hash. What has happened is told to the address that the person had
 * then, or a thief who changes it next would get the warnings.
 */
export const tellByMail = async (
  q: Queries,
  { id, at }: AuditStamp,
  facts: AuditFacts,
  asked: AskedMail | null | undefined,
): Promise<void> => {
  if (facts.refusedWith !== undefined) return
  const kind = asked === undefined ? mailToldBy(facts.action, facts.environment ?? null) : asked?.kind
  if (kind === null || kind === undefined) return
  const userId = await recipientId(q, kind, facts)
  const user = userId === null || linkMails.includes(kind) || isNews(kind) ? null : await q.users.byId(userId)
  const address = asked?.to ?? user?.email ?? null
  await q.mails.insert({ ...unsentMail(id.replace(/^aud_/, 'eml_'), kind, at), userId, address })
}

/** A mail that was never tried, to whom its kind says. It is sent when it is due. */
export const unsentMail = (id: string, kind: MailKind, createdAt: number, dueAt = createdAt): Mail => ({
  id,
  kind,
  userId: null,
  address: null,
  state: 'pending',
  attempts: 0,
  nextAttemptAt: dueAt,
  fault: null,
  createdAt,
})

const recipientId = async (q: Queries, kind: MailKind, { actor, appId, target, told }: AuditFacts) => {
  if (isNews(kind)) return kind === 'install_decided' ? (told?.userId ?? null) : null // the others are found when it is sent
  if (teamMails[kind] !== undefined) return (await q.apps.byId(appId ?? ''))?.ownerId ?? null
  if (kind === 'app_invitation' || isOperatorMail(kind)) return null // whoever has the address, and all operators
  if (kind === 'new_device') return 'id' in actor ? actor.id : null
  return target ?? null
}
