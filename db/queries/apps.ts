import { and, asc, count, desc, eq, inArray, isNotNull, isNull, lte, max, or, type SQL, gt } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { pick } from '../../src/domain/pick.ts'
import {
  appInvitations,
  appMembers,
  apps,
  carriedEnds,
  clients,
  credentials,
  dailyUsers,
  grants,
  hourlyCounts,
  installs,
  liveChanges,
  redirectUris,
  reviewMessages,
  rollbacks,
  users,
  versions,
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
  webhookEvents,
  webhookSecrets,
} from '../tables/sqlite.ts'
import { removeOne, removeSome, changeOne, finder, inserter, oldestKey } from './rows.ts'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection, given, only } from './connection.ts'
import { countAmong, listOrderOf, lookThrough, type SearchWindow, type TimeOrder } from './places.ts'
import { lazyReader } from './reader.ts'
import { contains } from './users.ts'
import { head, isHeadOfApp, isLiveOfApp, live } from './versions.ts'
import type { MemberRole } from '../../src/domain/member.ts'
import type { SecretHash } from '../../src/domain/secret.ts'

export type App = typeof apps.$inferSelect
export type Client = typeof clients.$inferSelect

type Changeable = Omit<App, 'id' | 'slug' | 'createdAt' | 'updatedAt' | 'deletedAt' | 'description'>

/** Which apps are asked for. A deleted app is neither active nor suspended. */
export type AppQuestion = {
  /** Text in the name or the slug; empty matches everything. */
  readonly part: string
  readonly status: App['status'] | 'deleted' | null
}

/** The orders of the list of apps. IDs are in the order in which they were made. */
export type AppOrder = 'slug' | TimeOrder

/** The apps among which a search looks; an index has the deleted ones. */
const scopeOf = ({ status }: AppQuestion): SQL | undefined =>
  status === 'deleted' ? isNotNull(apps.deletedAt) : undefined

const isAsked = ({ part, status }: AppQuestion): SQL | undefined =>
  and(
    status === null || status === 'deleted' ? undefined : and(eq(apps.status, status), isNull(apps.deletedAt)),
    part === '' ? undefined : or(contains(apps.slug, part), contains(apps.name, part)),
  )

/** Apps of an owner that are not deleted. */
const isOwnedBy = (ownerId: string) => and(eq(apps.ownerId, ownerId), isNull(apps.deletedAt))

/** Apps and their clients, one client per environment. */
export const appQueries = (db: DrizzleConnection) => {
  const byClient = lazyReader(db, () =>
    db
      .select({ app: apps, client: clients })
      .from(clients)
      .innerJoin(apps, eq(apps.id, clients.appId))
      .where(eq(clients.id, given('clientId'))),
  )
  const ofClient = lazily(() =>
    db
      .select({ appId: max(clients.appId) })
      .from(clients)
      .where(eq(clients.id, given('clientId')))
      .prepare(),
  )

  return {
    insert: inserter(db, apps),
    insertClient: inserter(db, clients),
    byId: finder(db, apps, 'id'),
    bySlug: finder(db, apps, 'slug'),
    /** The app behind a client ID, with the client's environment. */
    byClient: (clientId: string) => byClient().first({ clientId }),
    /** The ID of the app behind a client ID, or null. The query returns one row either way, so its duration tells nothing. */
    idOfClient: async (clientId: string) => only(await ofClient().execute({ clientId }))?.appId ?? null,
    clientsOf: async (appId: string): Promise<Client[]> =>
      await db.select().from(clients).where(eq(clients.appId, appId)).orderBy(asc(clients.environment)),
    list: async (): Promise<App[]> => await db.select().from(apps).orderBy(asc(apps.slug)),
    /** Apps that match, with their owners. The window and `searchedTo` are as for users. */
    search: async (question: AppQuestion, by: AppOrder, window: SearchWindow) => {
      const [column, listOrder] = by === 'slug' ? [apps.slug, 'ascending' as const] : [apps.id, listOrderOf(by)]
      const { isWithin, order, searchedTo } = await lookThrough(db, column, listOrder, window, scopeOf(question))
      const found = await db
        .select({
          ...pick(apps, 'id', 'slug', 'name', 'status', 'createdAt', 'deletedAt'),
          ownerEmail: users.email,
          iconSha256: live.iconSha256,
        })
        .from(apps)
        .innerJoin(users, eq(users.id, apps.ownerId))
        .leftJoin(live, isLiveOfApp)
        .where(and(isWithin, isAsked(question)))
        .orderBy(order)
        .limit(window.limit)
      return { found, searchedTo }
    },
    countFound: async (question: AppQuestion) => await countAmong(db, apps, isAsked(question), scopeOf(question)),
    /** The apps that a person owns or is a member of, by slug, without deleted ones, with the live version, its icon and the development head by name. */
    ofPerson: async (userId: string) =>
      await db
        .select({ app: apps, live: live.version, iconSha256: live.iconSha256, developmentHead: head.version })
        .from(apps)
        .leftJoin(live, isLiveOfApp)
        .leftJoin(head, isHeadOfApp)
        .where(inArray(apps.id, appIdsOf(db, userId)))
        .orderBy(asc(apps.slug)),
    /** The apps that belong to an account, by slug, without deleted ones. */
    listOwnedBy: async (ownerId: string): Promise<App[]> =>
      await db.select().from(apps).where(isOwnedBy(ownerId)).orderBy(asc(apps.slug)),
    /** `all`: with the deleted ones that are not removed yet. */
    countOwnedBy: async (ownerId: string) => ({
      live: await db.$count(apps, isOwnedBy(ownerId)),
      all: await db.$count(apps, eq(apps.ownerId, ownerId)),
    }),
    /** Accounts by the number of their apps, the most first, without deleted apps. Null if there are more than `mostApps`. */
    ownersOfMost: async (limit: number, mostApps: number) => {
      if ((await db.select({ id: apps.id }).from(apps).limit(1).offset(mostApps)).length > 0) return null
      const owned = count()
      return await db
        .select({ id: users.id, email: users.email, name: users.name, apps: owned })
        .from(apps)
        .innerJoin(users, eq(users.id, apps.ownerId))
        .where(isNull(apps.deletedAt))
        .groupBy(users.id, users.email, users.name)
        .orderBy(desc(owned), asc(users.email))
        .limit(limit)
    },
    change: async (id: string, to: Partial<Changeable>, now: number) =>
      void (await db
        .update(apps)
        .set({ ...to, updatedAt: now })
        .where(eq(apps.id, id))),
    /** The description of the version that becomes live. The app itself does not change. */
    describe: async (id: string, description: string | null) =>
      void (await db.update(apps).set({ description }).where(eq(apps.id, id))),
    /** Deletes the app, or restores it (null). Either way it is suspended afterwards. */
    setDeleted: async (id: string, deletedAt: number | null, now: number) =>
      void (await db.update(apps).set({ status: 'suspended', deletedAt, updatedAt: now }).where(eq(apps.id, id))),
    /** The app that was deleted first, if at this time or before. */
    deletedBy: async (deletedAt: number) =>
      only(await db.select().from(apps).where(lte(apps.deletedAt, deletedAt)).orderBy(asc(apps.deletedAt)).limit(1)),
  }
}

/** How many versions are removed at once: each may have half a megabyte of text. */
const versionsAtOnce = 10

/** Removes what belongs to a deleted app, in small parts. */
export const deletedAppQueries = (db: DrizzleConnection) => {
  const clientsOf = (appId: string) => db.select({ id: clients.id }).from(clients).where(eq(clients.appId, appId))
  const endpointsOf = (appId: string) =>
    db.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(eq(webhookEndpoints.appId, appId))

  /** Removes events with their deliveries, one for each endpoint of the app. */
  const removeEvents = async (appId: string, limit: number) => {
    const due = await db
      .select({ position: webhookDeliveries.position })
      .from(webhookDeliveries)
      .where(inArray(webhookDeliveries.endpointId, endpointsOf(appId)))
      .limit(limit)
    const positions = due.map(({ position }) => position)
    await db
      .delete(webhookEvents)
      .where(and(inArray(webhookEvents.position, positions), eq(webhookEvents.appId, appId)))
    await db.delete(webhookDeliveries).where(inArray(webhookDeliveries.position, positions))
    return positions.length
  }

  const removeVersions = async (appId: string) => {
    await db.update(apps).set({ developmentVersionId: null }).where(eq(apps.id, appId))
    return await removeSome(db, versions, eq(versions.appId, appId), versionsAtOnce)
  }

  type Step = (appId: string, limit: number) => Promise<number>
  const remove =
    (table: SQLiteTable, isOf: (appId: string) => SQL): Step =>
    async (appId, limit) =>
      await removeSome(db, table, isOf(appId), limit)

  /** Each step removes up to `limit` rows of one table. Rows are removed before those that they refer to. */
  const steps: readonly Step[] = [
    remove(webhookAttempts, (appId) => inArray(webhookAttempts.endpointId, endpointsOf(appId))),
    removeEvents,
    remove(webhookSecrets, (appId) => inArray(webhookSecrets.endpointId, endpointsOf(appId))),
    remove(webhookEndpoints, (appId) => eq(webhookEndpoints.appId, appId)),
    remove(installs, (appId) => eq(installs.appId, appId)),
    remove(liveChanges, (appId) => eq(liveChanges.appId, appId)),
    remove(rollbacks, (appId) => eq(rollbacks.appId, appId)),
    remove(reviewMessages, (appId) => eq(reviewMessages.appId, appId)),
    removeVersions,
    remove(hourlyCounts, (appId) => eq(hourlyCounts.appId, appId)),
    remove(dailyUsers, (appId) => eq(dailyUsers.appId, appId)),
    remove(redirectUris, (appId) => inArray(redirectUris.clientId, clientsOf(appId))),
    remove(credentials, (appId) => inArray(credentials.clientId, clientsOf(appId))),
    remove(appInvitations, (appId) => eq(appInvitations.appId, appId)),
    remove(appMembers, (appId) => eq(appMembers.appId, appId)),
  ]

  return {
    /** Grants of the app, in no order. */
    grantsOf: async (appId: string, limit: number) =>
      await db
        .select({ id: grants.id })
        .from(grants)
        .where(inArray(grants.clientId, clientsOf(appId)))
        .limit(limit),
    /** Removes up to `limit` rows of the first table that has any, except grants, and returns how many. */
    removeSome: async (appId: string, limit: number): Promise<number> => {
      for (const step of steps) {
        const removed = await step(appId, limit)
        if (removed > 0) return removed
      }
      return 0
    },
    /** Removes the app and its clients. Keeps that it was deleted, in case a backup that still has it is restored. */
    remove: async ({ id, deletedAt }: App): Promise<void> => {
      const at = deletedAt ?? 0
      await db.delete(clients).where(eq(clients.appId, id))
      await db.delete(apps).where(eq(apps.id, id))
      await db.insert(carriedEnds).values({ kind: 'app_deleted', target: id, at, value: null }).onConflictDoNothing()
    },
  }
}

/** The redirect URIs of clients. Other clients may have the same ones, so every question names the client. */
export const redirectUriQueries = (db: DrizzleConnection) => {
  const find = finder(db, redirectUris, 'clientId', 'uri')
  return {
    insert: inserter(db, redirectUris),
    /** Compared byte for byte. */
    isRegistered: async (clientId: string, uri: string) => (await find(clientId, uri)) !== null,
    remove: async (clientId: string, uri: string) =>
      await removeOne(db, redirectUris, eq(redirectUris.clientId, clientId), eq(redirectUris.uri, uri)),
    listByApp: async (appId: string) =>
      await db
        .select({ uri: redirectUris.uri, environment: clients.environment, createdAt: redirectUris.createdAt })
        .from(redirectUris)
        .innerJoin(clients, eq(clients.id, redirectUris.clientId))
        .where(eq(clients.appId, appId))
        .orderBy(asc(redirectUris.uri)),
  }
}

export type AppInvitation = typeof appInvitations.$inferSelect

/** The apps of a person that are not deleted: those that belong to them, and those of which they are a member. */
export const appIdsOf = (db: DrizzleConnection, userId: string | SQL) =>
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
  const anyOf = lazyReader(db, () => appIdsOf(db, given('userId')))
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
    /** Whether a person owns or is a member of an app that is not deleted. */
    hasAny: (userId: string) => anyOf().has({ userId }),
    /** The role of a member; null for everybody else, and for the publisher. */
    roleOf: async (appId: string, userId: string): Promise<MemberRole | null> =>
      (await role().first({ appId, userId }))?.role ?? null,
    ofApp: async (appId: string) =>
      await db
        .select({
          userId: users.id,
          ...pick(users, 'name', 'email', 'status'),
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
export const appInvitationQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, appInvitations),
  find: finder(db, appInvitations, 'id'),
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
})
