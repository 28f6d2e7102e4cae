import type { App, Install, Queries, User } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { recordId } from '../../domain/identifier.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { type ScopeName, formatScope } from '../../domain/scope.ts'
import { findApp } from '../apps/find-app.ts'
import { type Actor, auditStamp, followingStamp } from '../audit/event.ts'
import { badInput, decide, type Decision, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from '../users/find-user.ts'
import { currentVersion } from '../versions/current-version.ts'
import { type InstallRecord, installRecord } from './install-record.ts'
import { announce } from '../webhooks/events.ts'

type NewInstall = {
  readonly slug: string
  readonly userEmail: string
  readonly kind: ResourceKind
  readonly resourceSlug: string
  /** `development` opens the development head: for the app's own developer. */
  readonly environment?: Environment
  /**
   * What the owner was shown and agreed to. Left out by an operator, who installs what there is: the scopes of the live
   * version, or none while there is none.
   */
  readonly agreedTo?: readonly ScopeName[]
}

/**
 * Installs an app on a website or store that the user owns. It is pending and inactive until an operator approves it,
 * unless the platform approves by itself.
 * @throws invalid_request for an unknown app, user or resource, an install that is pending or active already, a version
 *   that asks for something else than what was agreed to, or a test of somebody else's app
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
  const isApproved = platform.installApproval === 'automatic'
  const environment = input.environment ?? 'production'
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    const user = await findUser(q, input.userEmail)
    if (user === null) return refused(badInput('user', 'There is no such user.'))
    const scopes = await scopesOf(q, app, user, environment, input.agreedTo)
    if (scopes.kind === 'refused') return scopes
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
      environment,
      scopes: scopes.value,
      approval: isApproved ? 'approved' : 'pending',
      state: isApproved ? 'active' : 'inactive',
      createdAt: now,
      updatedAt: now,
    }
    await q.installs.insert(install)
    const about = { appId: app.id, environment, target: id }
    const detail = { scope: install.scopes }
    await announce(q, stamp, { ...about, actor, action: 'install.created', detail })
    if (isApproved) {
      const facts = { ...about, actor: { kind: 'system' }, action: 'install.approved' } as const
      await announce(q, followingStamp(stamp, 1), facts)
    }
    return done(installRecord(install, input.kind, resource.slug))
  })
}

/** What the install may do from now on, as the store keeps it. */
const scopesOf = async (
  q: Queries,
  app: App,
  user: User,
  environment: Environment,
  agreedTo: readonly ScopeName[] | undefined,
): Promise<Decision<string>> => {
  const isTest = environment === 'development'
  if (isTest && app.ownerId !== user.id) return refused(badInput('app', 'Only its developer can test an app.'))
  const version = await currentVersion(q, app, environment)
  if (agreedTo === undefined) return done(version?.scopes ?? '')
  if (app.status !== 'active') return refused(badInput('app', 'This app is suspended and cannot be installed now.'))
  if (version === null) return refused(badInput('app', 'This app has no version that can be installed.'))
  return version.scopes === formatScope(agreedTo) ? done(version.scopes) : refused(badInput('scopes', askedAnew))
}

export const askedAnew = 'The app asks for something else by now. Look at what it asks for, and decide again.'
