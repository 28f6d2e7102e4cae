import type { Queries, User } from '../../../db/database.ts'
import { deviceLifetimeSeconds, mostDeviceFailures, mostDevices } from '../../domain/device.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { type RowKey, rowKey } from '../../domain/identifier.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { type AuditStamp, auditEvent, followingStamp } from '../audit/event.ts'
import type { Platform } from '../platform.ts'

/**
 * The browser that a genuine cookie names, if somebody has signed in with it to the account of this address; else null.
 * It reads the row of the cookie and nothing of the account that is asked for, so it tells nobody whether that exists.
 */
export const findKnownDevice = async (
  platform: Platform,
  key: RowKey | null,
  email: string,
): Promise<RowKey | null> => {
  const found = key === null ? null : await platform.database.queries.devices.find(key)
  if (found === null || !isValidAt(found.device, platform.clock.now())) return null
  return found.email === normalizeEmail(email) ? key : null
}

/** The key of a browser that becomes known, drawn before the transaction. */
export const mintDevice = (platform: Platform, now: number): RowKey => rowKey(platform.random.uuid(now))

/** Makes the browser known to its user, unless it is; gives the key when it is new. */
export const rememberDevice = async (
  q: Queries,
  user: User,
  device: { readonly known: RowKey | null; readonly minted: RowKey },
  now: number,
): Promise<RowKey | null> => {
  if (device.known !== null && (await q.devices.find(device.known))?.device.userId === user.id) return null
  const expiresAt = now + deviceLifetimeSeconds * 1000
  await q.devices.insert({ id: device.minted, userId: user.id, failures: 0, createdAt: now, expiresAt }, mostDevices)
  return device.minted
}

/** Counts a wrong password that came with the cookie of a known browser; the last one allowed ends it. */
export const countDeviceFailure = async (q: Queries, stamp: AuditStamp, user: User, known: RowKey): Promise<void> => {
  const failures = await q.devices.countFailure(known, user.id)
  if (failures === null || failures < mostDeviceFailures) return
  await q.devices.end(known)
  const actor = { kind: 'system' } as const
  await q.audit.insert(auditEvent(followingStamp(stamp, 1), { actor, action: 'device.ended', target: user.id }))
}
