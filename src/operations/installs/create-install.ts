import type { Install } from '../../../db/database.ts'
import { recordId } from '../../domain/identifier.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { findApp } from '../apps/find-app.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from '../users/find-user.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

type NewInstall = {
  readonly slug: string
  readonly userEmail: string
  readonly kind: ResourceKind
  readonly resourceSlug: string
}

/**
 * Installs an app on a website or store that the user owns; the install is pending and inactive until it is approved.
 * @throws invalid_request for an unknown app, user or resource, or an install that is pending or active already
 */
export const createInstall = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: NewInstall,
): Promise<InstallRecord> => {
  const now = platform.clock.now()
  const id = recordId('ins_', platform.random.uuid(now))
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    const user = await findUser(q, input.userEmail)
    if (user === null) return refused(badInput('user', 'There is no such user.'))
    const resource = await q.resources.find(user.id, input.kind, input.resourceSlug)
    if (resource === null) return refused(badInput('resource', 'This user has no such website or store.'))
    if ((await q.installs.findOpen(app.id, resource.id)) !== null) {
      return refused(badInput('resource', 'The app has a pending or active install there already.'))
    }
    const install: Install = {
      id,
      appId: app.id,
      userId: user.id,
      resourceId: resource.id,
      approval: 'pending',
      state: 'inactive',
      createdAt: now,
      updatedAt: now,
      environment: 'production',
      scopes: (await q.versions.active(app.id))?.scopes ?? '',
    }
    await q.installs.insert(install)
    await q.audit.insert(auditEvent(stamp, { actor, action: 'install.created', appId: app.id, target: id }))
    return done(installRecord(install, input.kind, resource.slug))
  })
}
