import { formatScope, parseScope, parseStoredScope } from '../../domain/scope.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput, decide, done } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'
import { findApp } from './find-app.ts'
import { scopeFaults } from './scope-faults.ts'

/**
 * Sets the scopes that an app may ask for from now on. What has been issued or granted keeps the scopes that it has:
 * a withdrawn one can no longer be asked for, by a token request, a consent or a new version, and that is all.
 * @throws invalid_request for scopes that cannot be registered, or an unknown slug
 */
export const changeAppScopes = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly slug: string; readonly scopes: string },
): Promise<AppRecord> => {
  const asked = parseScope(input.scopes)
  if (asked.kind === 'refused') throw badInput('scopes', scopeFaults[asked.code])
  const scopes = formatScope(asked.scopes)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    const clients = await q.apps.clientsOf(app.id)
    if (app.scopes === scopes) return done(appRecord(app, clients))
    const before = parseStoredScope(app.scopes)
    const detail = {
      added: asked.scopes.filter((name) => !before.includes(name)),
      withdrawn: before.filter((name) => !asked.scopes.includes(name)),
    }
    await q.apps.setScopes(app.id, scopes, now)
    await q.audit.insert(
      auditEvent(stamp, { actor, action: 'app.scopes_changed', appId: app.id, target: app.id, detail }),
    )
    return done(appRecord({ ...app, scopes, updatedAt: now }, clients))
  })
}
