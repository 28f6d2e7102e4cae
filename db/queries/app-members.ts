import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import type { MemberRole } from '../../src/domain/member.ts'
import { pick } from '../../src/domain/pick.ts'
import type { SecretHash } from '../../src/domain/secret.ts'
import { appInvitations, appMembers, apps, users } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given } from './connection.ts'
import { oldestKey } from './keys.ts'
import { lazyReader } from './reader.ts'
import { finder, inserter } from './rows.ts'

export type AppMember = typeof appMembers.$inferSelect
export type AppInvitation = typeof appInvitations.$inferSelect

/** The apps of a person that are not deleted: those that belong to them, and those of which they are a member. */
export const appIdsOf = (db: DrizzleConnection, userId: string) =>
  db
    .select({ id: apps.id })
    .from(apps)
    .where(and(eq(apps.ownerId, userId), isNull(apps.deletedAt)))
    .union(
      db
        .select({ id: apps.id })
        .from(appMembers)
        .innerJoin(apps, eq(apps.id, appMembers.appId))
        .where(and(eq(appMembers.userId, userId), isNull(appMembers.endedAt), isNull(apps.deletedAt))),
    )

const isLive = (appId: string, userId: string) =>
  [eq(appMembers.appId, appId), eq(appMembers.userId, userId), isNull(appMembers.endedAt)] as const
const pending = (appId: string) => [eq(appInvitations.appId, appId), isNull(appInvitations.endedAt)] as const

/** Members of apps besides the account that an app belongs to, which is the app's own column. */
export const appMemberQueries = (db: DrizzleConnection) => {
  const access = lazyReader(db, () =>
    db
      .select({ app: apps, role: appMembers.role })
      .from(apps)
      .leftJoin(
        appMembers,
        and(eq(appMembers.appId, apps.id), eq(appMembers.userId, given('userId')), isNull(appMembers.endedAt)),
      )
      .where(and(eq(apps.slug, given('slug')), isNull(apps.deletedAt))),
  )
  const role = lazyReader(
    db,
    () =>
      db
        .select({ role: appMembers.role })
        .from(appMembers)
        .where(
          and(eq(appMembers.appId, given('appId')), eq(appMembers.userId, given('userId')), isNull(appMembers.endedAt)),
        ),
    { locks: appMembers },
  )
  return {
    insert: inserter(db, appMembers),
    /** The app of this slug and the role of this person in it; null if they have none, or the app is deleted. */
    access: async (userId: string, slug: string) => {
      const found = await access().first({ userId, slug })
      if (found === null) return null
      const role: MemberRole | null = found.app.ownerId === userId ? 'owner' : found.role
      return role === null ? null : { app: found.app, role }
    },
    /** The role of a member; null for everybody else, and for the publisher. */
    roleOf: async (appId: string, userId: string): Promise<MemberRole | null> =>
      (await role().first({ appId, userId }))?.role ?? null,
    ofApp: async (appId: string) =>
      await db
        .select({
          userId: users.id,
          name: users.name,
          email: users.email,
          status: users.status,
          role: appMembers.role,
          since: appMembers.createdAt,
        })
        .from(appMembers)
        .innerJoin(users, eq(users.id, appMembers.userId))
        .where(and(eq(appMembers.appId, appId), isNull(appMembers.endedAt)))
        .orderBy(asc(appMembers.id)),
    /** Everybody who is or was a member. */
    everyIdOf: async (appId: string): Promise<readonly string[]> =>
      (await db.select({ id: appMembers.userId }).from(appMembers).where(eq(appMembers.appId, appId))).map(
        ({ id }) => id,
      ),
    /** The live memberships of a person, by app. */
    rolesOf: async (userId: string): Promise<ReadonlyMap<string, MemberRole>> =>
      new Map(
        (
          await db
            .select({ appId: appMembers.appId, role: appMembers.role })
            .from(appMembers)
            .where(and(eq(appMembers.userId, userId), isNull(appMembers.endedAt)))
        ).map(({ appId, role }) => [appId, role]),
      ),
    countOf: async (appId: string) =>
      await db.$count(appMembers, and(eq(appMembers.appId, appId), isNull(appMembers.endedAt))),
    changeRole: async (appId: string, userId: string, role: MemberRole, now: number) =>
      await changeOne(db, appMembers, { role, updatedAt: now }, ...isLive(appId, userId)),
    end: async (appId: string, userId: string, now: number) =>
      await changeOne(db, appMembers, { endedAt: now, updatedAt: now }, ...isLive(appId, userId)),
  }
}

/** Links with which a person becomes a member of an app, or takes it over. */
export const appInvitationQueries = (db: DrizzleConnection) => {
  const byId = finder(db, appInvitations, 'id')

  return {
    insert: inserter(db, appInvitations),
    find: (id: string) => byId({ id }),
    oldestId: oldestKey(db, appInvitations.id),
    /** Those that could still be used, with the name of who made them, oldest first. */
    pendingOf: async (appId: string, now: number) =>
      await db
        .select({
          ...pick(appInvitations, 'id', 'email', 'role', 'createdAt', 'expiresAt'),
          invitedBy: users.name,
        })
        .from(appInvitations)
        .innerJoin(users, eq(users.id, appInvitations.invitedBy))
        .where(and(...pending(appId), gt(appInvitations.expiresAt, now)))
        .orderBy(asc(appInvitations.id)),
    /** How many invitations that have not expired were made to an address, and by a person, whether they have ended or not. */
    countRecent: async (email: string, invitedBy: string, now: number) => {
      const isRecent = gt(appInvitations.expiresAt, now)
      return {
        toAddress: await db.$count(appInvitations, and(eq(appInvitations.email, email), isRecent)),
        byInviter: await db.$count(appInvitations, and(eq(appInvitations.invitedBy, invitedBy), isRecent)),
      }
    },
    /** Sets the hash of the link in the mail that is being sent. False if the invitation has ended. */
    setMailedHash: async (id: string, mailedHash: SecretHash, now: number) =>
      await changeOne(
        db,
        appInvitations,
        { mailedHash },
        eq(appInvitations.id, id),
        isNull(appInvitations.endedAt),
        gt(appInvitations.expiresAt, now),
      ),
    /** Ends an invitation. True for exactly one of any number of racing calls. */
    end: async (appId: string, id: string, now: number) =>
      await changeOne(db, appInvitations, { endedAt: now }, eq(appInvitations.id, id), ...pending(appId)),
    /** Ends those to an address, or those that a person made. */
    endAll: async (appId: string, of: { readonly email: string } | { readonly by: string }, now: number) => {
      const isMeant = 'by' in of ? eq(appInvitations.invitedBy, of.by) : eq(appInvitations.email, of.email)
      await db
        .update(appInvitations)
        .set({ endedAt: now })
        .where(and(...pending(appId), isMeant))
    },
    /** Ends those that a person made for any app. */
    endAllBy: async (userId: string, now: number) => {
      await db
        .update(appInvitations)
        .set({ endedAt: now })
        .where(and(eq(appInvitations.invitedBy, userId), isNull(appInvitations.endedAt)))
    },
    /** Ends the offers of the app itself. */
    endOffers: async (appId: string, now: number) => {
      await db
        .update(appInvitations)
        .set({ endedAt: now })
        .where(and(...pending(appId), eq(appInvitations.role, 'publisher')))
    },
  }
}
