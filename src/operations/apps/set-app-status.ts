import type { App, Queries } from '../../../db/database.ts'
import { type Actor, type AuditStamp, auditStamp } from '../audit/event.ts'
import { decide, decideToEnd, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'
import { findApp } from './find-app.ts'
import { announce } from '../webhooks/events.ts'

/**
 * Suspends or activates an app. While it is suspended none of its credentials and tokens works; none is ended, so
 * activating gives back what has not expired.
 * @throws invalid_request for an unknown slug or a deleted app
 */
export const setAppStatus = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly slug: string; readonly status: App['status'] },
): Promise<AppRecord> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const decided = input.status === 'suspended' ? decideToEnd : decide
  return await decided(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    const clients = await q.apps.clientsOf(app.id)
    if (app.status === input.status) return done(appRecord(app, clients))
    if (input.status === 'suspended') await suspendApp(q, stamp, actor, app)
    else await activate(q, stamp, actor, app)
    return done(appRecord({ ...app, status: input.status, updatedAt: now }, clients))
  })
}

/** Suspends an active app and leaves the row of that. */
export const suspendApp = async (q: Queries, stamp: AuditStamp, actor: Actor, app: App): Promise<void> => {
  await q.apps.setStatus(app.id, 'suspended', stamp.at)
  await announce(q, stamp, { actor, action: 'app.suspended', appId: app.id, target: app.id })
}

const activate = async (q: Queries, stamp: AuditStamp, actor: Actor, app: App): Promise<void> => {
  await q.apps.setStatus(app.id, 'active', stamp.at)
  await announce(q, stamp, { actor, action: 'app.activated', appId: app.id, target: app.id })
}
