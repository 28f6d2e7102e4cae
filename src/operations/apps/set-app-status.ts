import type { App } from '../../../db/database.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { decide, decideToEnd, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'
import { findApp } from './find-app.ts'

/**
 * Suspends or activates an app. While it is suspended none of its credentials and tokens works; none is ended, so
 * activating gives back what has not expired.
 * @throws invalid_request for an unknown slug
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
    await q.apps.setStatus(app.id, input.status, now)
    const action = input.status === 'suspended' ? 'app.suspended' : 'app.activated'
    await q.audit.insert(auditEvent(stamp, { actor, action, appId: app.id, target: app.id }))
    return done(appRecord({ ...app, status: input.status, updatedAt: now }, clients))
  })
}
