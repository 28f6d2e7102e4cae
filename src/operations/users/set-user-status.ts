import type { App, Queries, User } from '../../../db/database.ts'
import { PlatformError } from '../../domain/errors.ts'
import { keyOfUuidTime } from '../../domain/identifier.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { timeKeyAt } from '../../domain/time-key.ts'
import { countOf } from '../end-access.ts'
import { suspendApp } from '../apps/change-app.ts'
import { findHeir, transferTo } from '../apps/transfer-app.ts'
import { decide, decideToEnd, type OpenChange, type Operation } from '../decision.ts'
import { refusalIfLastOperator } from './change-user.ts'
import { knownUser } from './find-user.ts'

/** What happens to the apps of a user who is disabled. */
export type AppsChoice =
  { readonly kind: 'suspend' } | { readonly kind: 'keep' } | { readonly kind: 'transfer'; readonly email: string }

type Input =
  | { readonly email: string; readonly status: 'active' }
  | { readonly email: string; readonly status: 'disabled'; readonly apps?: AppsChoice }

/** `ended` has what was ended, and `stopped` what does not work while the user is disabled or the app is suspended. */
export type DisabledUser = {
  readonly user: User
  readonly ended: Awaited<ReturnType<typeof endSessions>>
  readonly stopped: Awaited<ReturnType<typeof countStopped>>
  readonly apps: OwnedApps
}
/** The slugs of the user's apps; `suspended` by this call or before. */
type OwnedApps = Awaited<ReturnType<typeof leaveApps>>

/**
 * Disables or enables a user. Disabling ends the user's sessions and links. Grants stop working at once but are not revoked, so they
 * work again once the user is enabled. The same transaction suspends the user's apps, unless the choice is to keep or
 * transfer them. Enabling a user activates no app.
 * @throws invalid_request for an unknown address, the last operator, or a new owner who cannot own the apps; quota_exceeded
 */
export const setUserStatus: Operation<Input, DisabledUser> = async (platform, trace, actor, input) => {
  if (input.status === 'active') {
    return await decide(platform, trace, actor, async (change) => await enable(change, input.email))
  }
  const choice = input.apps ?? { kind: 'suspend' }
  return await decideToEnd(platform, trace, actor, async (change) => {
    const { q, now, record } = change
    const user = await knownUser(q, input.email)
    if (user instanceof PlatformError) return user
    const canSignIn = user.isOperator && user.status === 'active'
    const last = canSignIn ? await refusalIfLastOperator(q, user.id) : null
    if (last !== null) return last
    const apps = await q.apps.listOwnedBy(user.id)
    const heir =
      choice.kind === 'transfer'
        ? await findHeir(q, platform.quotas, { email: choice.email, ownerId: user.id, apps: apps.length })
        : null
    if (heir instanceof PlatformError) return heir
    // First the status and the sessions: this waits for sign-ins and consents under way, and ends or counts what they made.
    if (user.status !== 'disabled') await q.users.change(user.id, { status: 'disabled' }, now)
    const ended = await endSessions(q, user, now)
    const stopped = await countStopped(q, user, choice.kind === 'suspend' ? apps : [], now)
    const left = await leaveApps(change, apps, heir, choice.kind)
    if (user.status === 'disabled') return { user, ended, stopped, apps: left }
    const { suspended, kept, transferred } = left
    const counts = { suspended: suspended.length, kept: kept.length, transferred: transferred.length }
    const detail = { apps: choice.kind, ...counts, ...ended, ...stopped }
    await record({ action: 'user.disabled', target: user.id, detail })
    return { user: { ...user, status: 'disabled', updatedAt: now }, ended, stopped, apps: left }
  })
}

const enable = async ({ q, now, record }: OpenChange, email: string): Promise<DisabledUser | PlatformError> => {
  const user = await knownUser(q, email)
  if (user instanceof PlatformError) return user
  const apps = await q.apps.listOwnedBy(user.id)
  const slugs = (status: App['status']) => apps.filter((app) => app.status === status).map(({ slug }) => slug)
  if (user.status !== 'active') {
    await q.users.change(user.id, { status: 'active' }, now)
    await record({ action: 'user.enabled', target: user.id })
  }
  return {
    user: { ...user, status: 'active', updatedAt: user.status === 'active' ? user.updatedAt : now },
    ended: { sessions: 0, embeddedSessions: 0 },
    stopped: { grants: 0, userTokens: 0, appTokens: 0 },
    apps: { suspended: slugs('suspended'), kept: slugs('active'), transferred: [] },
  }
}

/** An embedded session ends with the user session that it was opened in. */
const endSessions = async (q: Queries, { id }: User, now: number) => {
  await q.passwordLinks.endAll(id, now) // whoever asked for one may be why the user was disabled
  const since = keyOfUuidTime(now - maximumLifetimes.embeddedSession * 1000)
  const embeddedSessions = await q.access.countEmbedded({ kind: 'user', userId: id }, since, now)
  return { sessions: await q.sessions.endAllOfUser(id, now), embeddedSessions }
}

/** The grants of a user who was disabled before are not counted again. */
const countStopped = async (q: Queries, user: User, suspended: readonly App[], now: number) => {
  const open = user.status === 'active' ? await q.access.openGrants({ kind: 'user', userId: user.id }, '', 10_000) : []
  const { grants, userTokens } = countOf(open, now)
  const since = timeKeyAt(now - maximumLifetimes.appToken * 1000)
  const active = suspended.filter(({ status }) => status === 'active').map(({ id }) => id)
  const appTokens = active.length === 0 ? 0 : await q.access.countAppTokens(active, since, now)
  return { grants, userTokens, appTokens }
}

/** Suspends, keeps or transfers the apps. Each app that changes gets its own audit row. */
const leaveApps = async (change: OpenChange, apps: readonly App[], heir: User | null, choice: AppsChoice['kind']) => {
  const left = { suspended: new Array<string>(), kept: new Array<string>(), transferred: new Array<string>() }
  for (const app of apps) {
    if (choice === 'transfer' && heir !== null) {
      await transferTo(change, app, heir)
      left.transferred.push(app.slug)
    } else if (app.status === 'suspended') {
      left.suspended.push(app.slug)
    } else if (choice === 'keep') {
      left.kept.push(app.slug)
    } else {
      await suspendApp(change, app)
      left.suspended.push(app.slug)
    }
  }
  return left
}
