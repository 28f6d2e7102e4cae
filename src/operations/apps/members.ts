// Who belongs to an app besides its publisher, the account that the app is registered for. The publisher is always an owner, so an
// app always has one: the publisher cannot leave, be removed or be demoted before somebody else has taken the app over.

import type { App, Queries } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { type MemberRole, memberRoles, rightOverRole } from '../../domain/member.ts'
import { refusalOfRole, type Rule } from '../acting-as.ts'
import { badInput, decide, type OpenChange, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { knownUser } from '../users/find-user.ts'
import { findAnyApp, findApp } from './app-record.ts'

/** The most members of an app, besides its publisher. */
const maximumMembers = 100

/** A person of an app. */
export type TeamMember = Awaited<ReturnType<typeof membersOf>>[number]

/** The people of an app: the publisher, then owners, admins and developers, the first to join first. */
const membersOf = async (q: Queries, app: Pick<App, 'id' | 'ownerId' | 'createdAt'>) => {
  const publisher = await q.users.byId(app.ownerId)
  if (publisher === null) throw new Error('an app has no owner')
  const { id: userId, name, email, status } = publisher
  const first = { userId, name, email, status, role: 'owner' as const, since: app.createdAt, isPublisher: true }
  const others = (await q.appMembers.ofApp(app.id)).map((member) => Object.assign(member, { isPublisher: false }))
  return [first, ...memberRoles.flatMap((role) => others.filter((member) => member.role === role))]
}

/** The people of the app with this slug. @throws invalid_request for an unknown slug */
export const listMembers = async ({ database: { queries: q } }: Platform, slug: string) =>
  await membersOf(q, await findAnyApp(q, slug))

/** The role of a person in an app; null if they have none. */
export const roleIn = async (q: Queries, app: App, userId: string): Promise<MemberRole | null> =>
  app.ownerId === userId ? 'owner' : await q.appMembers.roleOf(app.id, userId)

/**
 * Refuses unless the role of this user has the right over the role that the member has, and over the one that they would get (null
 * if they are removed). Everybody may leave.
 */
export const mayChangeMember =
  (userId: string, slug: string, memberId: string, role: MemberRole | null): Rule =>
  async (q) => {
    const access = await q.appMembers.access(userId, slug)
    if (access === null) return refuse('route_not_found')
    if (memberId === userId && role === null) return null
    const current = await roleIn(q, access.app, memberId)
    if (current === null) return refusalOfRole(access.role, 'members')
    return (
      refusalOfRole(access.role, rightOverRole(current)) ??
      (role === null ? null : refusalOfRole(access.role, rightOverRole(role)))
    )
  }

type MemberOf = { readonly slug: string; readonly userId: string }

/**
 * Removes a member, or lets them leave. What they could do ends at once, with the invitations that they made.
 * @throws invalid_request for an unknown slug, or somebody who is no member; owns_apps for the publisher
 */
export const removeMember: Operation<MemberOf, { readonly userId: string }> = async (
  platform,
  trace,
  actor,
  { slug, userId },
) =>
  await decide(platform, trace, { actor, endsAccess: true }, async ({ q, now, record }) => {
    const app = await findAnyApp(q, slug)
    const role = await roleOfOther(q, app, userId)
    if (role instanceof PlatformError) return role
    await q.appMembers.end(app.id, userId, now)
    await q.appInvitations.endAll(app.id, { by: userId }, now)
    const action = actor.kind === 'user' && actor.id === userId ? 'member.left' : 'member.removed'
    await record({ action, appId: app.id, target: userId, detail: { role } })
    return { userId }
  })

/**
 * Gives a member another role. The invitations that they made end.
 * @throws invalid_request for an unknown slug, or somebody who is no member; owns_apps for the publisher
 */
export const changeMemberRole: Operation<
  MemberOf & { readonly role: MemberRole },
  { readonly userId: string }
> = async (platform, trace, actor, { slug, userId, role }) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findAnyApp(q, slug)
    const from = await roleOfOther(q, app, userId)
    if (from instanceof PlatformError) return from
    if (from === role) return { userId }
    await q.appMembers.changeRole(app.id, userId, role, now)
    await q.appInvitations.endAll(app.id, { by: userId }, now)
    await record({ action: 'member.role_changed', appId: app.id, target: userId, detail: { from, to: role } })
    return { userId }
  })

/** The role of a member who is not the publisher, or the refusal. */
const roleOfOther = async (q: Queries, app: App, userId: string): Promise<MemberRole | PlatformError> => {
  if (app.ownerId === userId) return refuse('owns_apps', { message: publisherStays })
  return (await q.appMembers.roleOf(app.id, userId)) ?? badInput('member', 'This person is not a member of the app.')
}

const publisherStays = 'The app belongs to this account, so it stays an owner. Transfer the app to somebody else first.'

type NewMember = { readonly slug: string; readonly email: string; readonly role: MemberRole }

/**
 * Makes an active user a member without asking them, which operators may do.
 * @throws invalid_request for an unknown slug or address, a disabled user, or somebody who is a member already; quota_exceeded
 */
export const addMember: Operation<NewMember, Omit<NewMember, 'email'> & { readonly userId: string }> = async (
  platform,
  trace,
  actor,
  { slug, email, role },
) => {
  const now = platform.clock.now()
  const id = recordId('mem_', platform.random.uuid(now))
  return await decide(platform, trace, { actor, now }, async (change) => {
    const { q, record } = change
    const app = await findApp(q, slug)
    const user = await knownUser(q, email)
    if (user instanceof PlatformError) return user
    if (user.status !== 'active') return badInput('email', 'The user is disabled. Enable the user first.')
    if ((await roleIn(q, app, user.id)) !== null) return badInput('email', isMember)
    const full = await refusalIfTeamFull(q, app.id)
    if (full !== null) return full
    await join(change, app.id, { id, userId: user.id, role })
    await q.appInvitations.endAll(app.id, { email: user.email }, now)
    await record({ action: 'member.added', appId: app.id, target: user.id, detail: { role } })
    return { slug, userId: user.id, role }
  })
}

export const isMember = 'This person is a member of the app already.'

export const refusalIfTeamFull = async (q: Queries, appId: string): Promise<PlatformError | null> => {
  if ((await q.appMembers.countOf(appId)) < maximumMembers) return null
  const message = `An app can have at most ${maximumMembers} members besides its publisher.`
  return refuse('quota_exceeded', { param: 'email', details: { maximum: maximumMembers }, message })
}

type Joining = { readonly id: string; readonly userId: string; readonly role: MemberRole }

/** Adds the row of a member, in a transaction that has found that they are none. */
export const join = async ({ q, now }: OpenChange, appId: string, member: Joining): Promise<void> =>
  await q.appMembers.insert({ ...member, appId, createdAt: now, updatedAt: now, endedAt: null })
