import { whyInactive } from '../../domain/app.ts'
// Who belongs to an app besides its publisher, the account that the app is registered for. The publisher is always an owner, so an
// app always has one: the publisher cannot leave, be removed or be demoted before somebody else has taken the app over.
import type { App, Queries, AppInvitation } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId, recordIdOfKey, rowKey, uuidOfRecordId } from '../../domain/identifier.ts'
import {
  deadInvitationWords,
  endOfInvitation,
  invitationOfAnother,
  type MemberRole,
  memberRoles,
  rightOverRole,
  hasRight,
  invitationPath,
  invitationSeconds,
  type OfferedRole,
} from '../../domain/member.ts'
import { accessTo, refusalOfRole, type Rule } from '../acting-as.ts'
import { badInput, decide, type OpenChange, type Operation, CountedRefusal, settle } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { personOf } from '../users/find-user.ts'
import { findAnyApp, findApp } from './app-record.ts'
import { mostMailedInvitations } from '../../domain/mail.ts'
import { parseSecret } from '../../domain/secret.ts'
import { emailFault, normalizeEmail } from '../../domain/user.ts'
import type { SessionCaller } from '../authenticate.ts'
import { findAppInvitation } from '../find-token.ts'
import { mintSecretLink, secretLink } from '../users/passwords.ts'
import { findHeir, transferTo } from './apps.ts'

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
const roleIn = async (q: Queries, app: App, userId: string): Promise<MemberRole | null> =>
  app.ownerId === userId ? 'owner' : await q.appMembers.roleOf(app.id, userId)

/**
 * Refuses unless the role of this user has the right over the role that the member has, and over the one that they would get (null
 * if they are removed). Everybody may leave.
 */
export const mayChangeMember =
  (slug: string, memberId: string, role: MemberRole | null): Rule =>
  async (q, userId, as) => {
    const access = await accessTo(q, slug, userId, as)
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
  await decide(platform, trace, { actor, endsAccess: role !== 'owner' }, async ({ q, now, record }) => {
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
    const user = await personOf(q, { email })
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

const isMember = 'This person is a member of the app already.'

const refusalIfTeamFull = async (q: Queries, appId: string): Promise<PlatformError | null> => {
  if ((await q.appMembers.countOf(appId)) < maximumMembers) return null
  const message = `An app can have at most ${maximumMembers} members besides its publisher.`
  return refuse('quota_exceeded', { param: 'email', details: { maximum: maximumMembers }, message })
}

type Joining = { readonly id: string; readonly userId: string; readonly role: MemberRole }

/** Adds the row of a member, in a transaction that has found that they are none. */
export const join = async ({ q, now }: OpenChange, appId: string, member: Joining): Promise<void> =>
  await q.appMembers.insert({ ...member, appId, createdAt: now, updatedAt: now, endedAt: null })

// Links with which a person becomes a member of an app, or takes it over. A link works once, for a day, and only for the account with
// the invited address. It works no longer than the person who made it may invite to that role.

/** The most invitations of an app that work at the same time. */
const maximumInvitations = 50

type NewInvitation = {
  readonly slug: string
  readonly email: string
  readonly role: OfferedRole
  /** The member who invites. */
  readonly invitedBy: string
}

/** `link` is in this answer only. Whether the invitation is also mailed, with another link. */
export type MadeInvitation = { readonly id: string; readonly link: string; readonly isMailed: boolean }

/**
 * Makes a link with which the person of an address becomes a member, or the app's publisher. It does not matter whether anybody has the
 * address, and nothing tells. An earlier invitation to it ends.
 * @throws invalid_request for a malformed address, that of a member or one's own; right_missing if the inviter may not revoke an earlier one;
 *   quota_exceeded
 */
export const inviteMember: Operation<NewInvitation, MadeInvitation> = async (platform, trace, actor, input) => {
  const { slug, role, invitedBy } = input
  const email = normalizeEmail(input.email)
  if (email === null) throw badInput('email', emailFault(input.email))
  const now = platform.clock.now()
  const link = mintSecretLink(platform, now, {
    kind: 'appInvitation',
    path: invitationPath,
    seconds: invitationSeconds,
  })
  const id = recordIdOfKey('inv_', link.key)
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const app = await findApp(q, slug)
    const person = await q.users.byEmail(email)
    const current = person === null ? null : await roleIn(q, app, person.id)
    // The team sees the addresses of its members, so this tells nothing new.
    if (current !== null && role !== 'publisher') return badInput('email', isMember)
    if (person?.id === app.ownerId) return badInput('email', isPublisher)
    if (person?.id === invitedBy) return badInput('email', ownOffer)
    const open = await q.appInvitations.pendingOf(app.id, now)
    const earlier = open.find((one) => one.email === email)
    const own = earlier === undefined ? null : await roleIn(q, app, invitedBy)
    const refused = earlier === undefined || own === null ? null : refusalOfRole(own, rightOverRole(earlier.role))
    if (refused !== null) return refused
    await q.appInvitations.endAll(app.id, { email }, now)
    if (open.length - (earlier === undefined ? 0 : 1) >= maximumInvitations) return tooMany()
    const { toAddress, byInviter } = await q.appInvitations.countRecent(email, invitedBy, now)
    const isMailed =
      platform.mailer !== null &&
      toAddress < mostMailedInvitations.toAddress &&
      byInviter < mostMailedInvitations.byInviter
    const { hash, expiresAt } = link
    await q.appInvitations.insert({
      id,
      appId: app.id,
      email,
      role,
      hash,
      mailedHash: null,
      invitedBy,
      createdAt: now,
      expiresAt,
      endedAt: null,
    })
    const mail = isMailed ? { mail: { kind: 'app_invitation', to: email } as const } : {}
    await record({ action: 'member.invited', appId: app.id, target: id, detail: { role }, ...mail })
    return { id, link: link.link, isMailed }
  })
}

const isPublisher = 'The app belongs to this person already.'
const ownOffer = 'You cannot offer the app to yourself. Another owner can offer it to you.'

const tooMany = () =>
  refuse('quota_exceeded', {
    param: 'email',
    details: { maximum: maximumInvitations },
    message: `An app can have at most ${maximumInvitations} open invitations. Revoke one, or wait until it expires.`,
  })

/** An invitation that can still be used. */
export type PendingInvitation = Awaited<ReturnType<Queries['appInvitations']['pendingOf']>>[number]

export const listInvitations = async ({ database, clock }: Platform, appId: string): Promise<PendingInvitation[]> =>
  await database.queries.appInvitations.pendingOf(appId, clock.now())

/** Refuses unless the role of this user has the right over the role that the invitation offers. */
export const mayRevokeInvitation =
  (slug: string, id: string): Rule =>
  async (q, userId, as) => {
    const access = await accessTo(q, slug, userId, as)
    const found = await q.appInvitations.find(id)
    if (access === null || found?.appId !== access.app.id) return refuse('route_not_found')
    return refusalOfRole(access.role, rightOverRole(found.role))
  }

/** Ends an invitation. @throws version_not_eligible for one that has ended */
export const revokeInvitation: Operation<
  { readonly slug: string; readonly id: string },
  { readonly id: string }
> = async (platform, trace, actor, { slug, id }) =>
  await decide(platform, trace, { actor, endsAccess: true }, async ({ q, now, record }) => {
    const app = await findApp(q, slug)
    if (!(await q.appInvitations.end(app.id, id, now))) {
      return refuse('version_not_eligible', { message: 'This invitation was used or revoked before.' })
    }
    await record({ action: 'member.invitation_revoked', appId: app.id, target: id })
    return { id }
  })

/** What an invitation says to the person whom it is for. */
export type OpenInvitation = {
  readonly app: Pick<App, 'id' | 'name' | 'slug'>
  readonly role: OfferedRole
  readonly inviter: { readonly name: string; readonly email: string }
}

type Invited = { readonly app: App; readonly row: AppInvitation; readonly inviter: OpenInvitation['inviter'] }

/** What an invitation offers, if it still works and who made it may still invite to its role. */
const standingOffer = async (q: Queries, row: AppInvitation, now: number): Promise<Invited | null> => {
  if (row.endedAt !== null || row.expiresAt <= now) return null
  const app = await q.apps.byId(row.appId)
  const inviter = await q.users.byId(row.invitedBy)
  if (app === null || app.deletedAt !== null || inviter?.status !== 'active') return null
  const role = await roleIn(q, app, inviter.id)
  if (role === null || !hasRight(role, rightOverRole(row.role))) return null
  return { app, row, inviter: { name: inviter.name, email: inviter.email } }
}

/**
 * An invitation and a link for a mail about it, with these digits. The link of an earlier mail stops working. Null if the invitation
 * does not work any more.
 */
export const invitationToMail = async (
  platform: Pick<Platform, 'publicUrl'>,
  { q, now }: Pick<OpenChange, 'q' | 'now'>,
  id: string,
  digits: string,
): Promise<(Invited & { readonly link: string }) | null> => {
  const row = await q.appInvitations.find(id)
  const offer = row === null ? null : await standingOffer(q, row, now)
  const uuid = uuidOfRecordId('inv_', id)
  if (offer === null || uuid === null) return null
  const { link, hash } = secretLink(platform, {
    kind: 'appInvitation',
    path: invitationPath,
    key: rowKey(uuid),
    digits,
  })
  return (await q.appInvitations.setMailedHash(id, hash, now)) ? { ...offer, link } : null
}

/** The invitation that a secret belongs to, if it works for this account. Only the invited account learns why it does not. */
const liveInvitation = async (q: Queries, secret: string, { user: { id } }: SessionCaller, now: number) => {
  const parsed = parseSecret('appInvitation', secret)
  const row = parsed && (await findAppInvitation(q, { key: recordIdOfKey('inv_', parsed.key), hash: parsed.hash }))
  const offer = row && (await standingOffer(q, row, now))
  const isInvited = row !== null && (await q.users.byId(id))?.email === row.email
  if (offer !== null)
    return isInvited ? offer : refusedUse(id, refuse('right_missing', { message: invitationOfAnother }))
  if (!isInvited) return refusedUse(id, deadInvitation('unknown'))
  const app = await q.apps.byId(row.appId)
  const isMember = app !== null && (await roleIn(q, app, id)) !== null
  return refusedUse(id, deadInvitation(endOfInvitation(row, now, { exists: app?.deletedAt === null, isMember })))
}

const deadInvitation = (end: keyof typeof deadInvitationWords) =>
  refuse('version_not_eligible', { message: deadInvitationWords[end] })

const refusedUse = (id: string, error: PlatformError) =>
  new CountedRefusal(error, { actor: { kind: 'user', id }, action: 'member.use_invitation' })

/**
 * What an invitation says. Consumes nothing, because programs that look at mail open links too.
 * @throws version_not_eligible for one that does not work; right_missing for another account than the invited one
 */
export const openInvitation = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  secret: string,
): Promise<OpenInvitation> => {
  const now = platform.clock.now()
  const found = await liveInvitation(platform.database.queries, secret, caller, now)
  if (found instanceof CountedRefusal) return await settle(platform, trace, found, now)
  return { app: found.app, role: found.row.role, inviter: found.inviter }
}

/**
 * Makes the signed-in person a member of the app, or its publisher. A publisher before them stays an owner.
 * @throws as `openInvitation`; app_inactive for a suspended app; quota_exceeded; invalid_request for a member
 */
export const acceptInvitation = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  secret: string,
): Promise<Pick<App, 'slug'>> => {
  const now = platform.clock.now()
  const id = recordId('mem_', platform.random.uuid(now))
  const { user } = caller
  return await decide(platform, trace, { actor: { kind: 'user', id: user.id }, now }, async (change) => {
    const { q, record } = change
    const found = await liveInvitation(q, secret, caller, now)
    if (found instanceof CountedRefusal) return found
    const { app, row } = found
    if (app.status !== 'active') return whyInactive(app)
    const target = { appId: app.id, target: user.id }
    if (row.role === 'publisher') {
      if (row.invitedBy === user.id) return badInput('email', ownOffer) // whose address was another one then
      const heir = await findHeir(q, platform.quotas, { email: row.email, ownerId: app.ownerId, apps: 1 })
      if (heir instanceof PlatformError) return heir
      if (!(await q.appInvitations.end(app.id, row.id, now))) return refusedUse(user.id, deadInvitation('used'))
      await transferTo(change, app, heir)
      await join(change, app.id, { id, userId: app.ownerId, role: 'owner' })
    } else {
      if ((await roleIn(q, app, user.id)) !== null) return badInput('email', isMember)
      const full = await refusalIfTeamFull(q, app.id)
      if (full !== null) return full
      if (!(await q.appInvitations.end(app.id, row.id, now))) return refusedUse(user.id, deadInvitation('used'))
      await join(change, app.id, { id, userId: user.id, role: row.role })
      await record({ ...target, action: 'member.joined', detail: { role: row.role } })
    }
    return { slug: app.slug }
  })
}
