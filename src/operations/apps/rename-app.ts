import { appNameFault } from '../../domain/name.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'
import { findApp } from './find-app.ts'

/**
 * Gives an app another name, which people read on the consent page from then on. The slug stays.
 * @throws invalid_request for a name that cannot be shown, or an unknown slug
 */
export const renameApp = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly slug: string; readonly name: string },
): Promise<AppRecord> => {
  const name = input.name.trim()
  const fault = appNameFault(name, platform.platformName)
  if (fault !== null) throw badInput('name', fault)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    const clients = await q.apps.clientsOf(app.id)
    if (app.name === name) return done(appRecord(app, clients))
    const detail = { from: app.name, to: name }
    await q.apps.rename(app.id, name, now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'app.renamed', appId: app.id, target: app.id, detail }))
    return done(appRecord({ ...app, name, updatedAt: now }, clients))
  })
}
