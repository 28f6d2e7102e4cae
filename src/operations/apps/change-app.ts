import type { App, Queries } from '../../../db/database.ts'
import { appNameFault } from '../../domain/name.ts'
import { formatScope, parseScope, parseStoredScope } from '../../domain/scope.ts'
import { type Actor, auditEvent, auditStamp, type AuditStamp } from '../audit/event.ts'
import { badInput, decide, decideToEnd, done, type Operation } from '../decision.ts'
import { announce } from '../webhooks/events.ts'
import { type AppRecord, appRecord, findApp } from './app-record.ts'
import { scopeFaults } from './create-app.ts'

/**
 * Gives an app another name, which the consent page shows from now on. The slug stays.
 * @throws invalid_request for a name that cannot be shown, or an unknown slug
 */
export const renameApp: Operation<{ readonly slug: string; readonly name: string }, AppRecord> = async (
  platform,
  trace,
  actor,
  input,
) => {
  const name = input.name.trim()
  const fault = appNameFault(name, platform.platformName)
  if (fault !== null) throw badInput('name', fault)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    if (app.name === name) return done(await appRecord(q, app))
    const detail = { from: app.name, to: name }
    await q.apps.rename(app.id, name, now)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'app.renamed', appId: app.id, target: app.id, detail }))
    return done(await appRecord(q, { ...app, name, updatedAt: now }))
  })
}

/**
 * Sets the scopes that an app may ask for. Issued tokens and existing grants keep their scopes: a withdrawn scope is only
 * refused in new token requests, consents and versions.
 * @throws invalid_request for scopes that cannot be registered, or an unknown slug
 */
export const changeAppScopes: Operation<{ readonly slug: string; readonly scopes: string }, AppRecord> = async (
  platform,
  trace,
  actor,
  input,
) => {
  const asked = parseScope(input.scopes)
  if (asked.kind === 'refused') throw badInput('scopes', scopeFaults[asked.code])
  const scopes = formatScope(asked.scopes)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    if (app.scopes === scopes) return done(await appRecord(q, app))
    const before = parseStoredScope(app.scopes)
    const detail = {
      added: asked.scopes.filter((name) => !before.includes(name)),
      withdrawn: before.filter((name) => !asked.scopes.includes(name)),
    }
    await q.apps.setScopes(app.id, scopes, now)
    await q.audit.insert(
      auditEvent(stamp, { actor, action: 'app.scopes_changed', appId: app.id, target: app.id, detail }),
    )
    return done(await appRecord(q, { ...app, scopes, updatedAt: now }))
  })
}

/**
 * Suspends or activates an app. While it is suspended, none of its credentials and tokens works. None is revoked, so
 * those that have not expired work again once it is active.
 * @throws invalid_request for an unknown slug or a deleted app
 */
export const setAppStatus: Operation<{ readonly slug: string; readonly status: App['status'] }, AppRecord> = async (
  platform,
  trace,
  actor,
  input,
) => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const decided = input.status === 'suspended' ? decideToEnd : decide
  return await decided(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    if (app.status === input.status) return done(await appRecord(q, app))
    if (input.status === 'suspended') {
      await suspendApp(q, stamp, actor, app)
    } else {
      await q.apps.setStatus(app.id, 'active', now)
      await announce(q, stamp, { actor, action: 'app.activated', appId: app.id, target: app.id })
    }
    return done(await appRecord(q, { ...app, status: input.status, updatedAt: now }))
  })
}

/** Suspends an active app inside a transaction. */
export const suspendApp = async (q: Queries, stamp: AuditStamp, actor: Actor, app: App): Promise<void> => {
  await q.apps.setStatus(app.id, 'suspended', stamp.at)
  await announce(q, stamp, { actor, action: 'app.suspended', appId: app.id, target: app.id })
}
