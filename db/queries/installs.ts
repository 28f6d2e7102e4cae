import { and, asc, count, desc, eq, gt, isNotNull, isNull, lt, ne, or, sql, type SQL } from 'drizzle-orm'
import { apps, installs, resources, users } from '../tables/sqlite.ts'
import { alias } from 'drizzle-orm/sqlite-core'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { inserter, lazyReader } from './reader.ts'
import type { Resource } from './resources.ts'
import { head, isHeadOfApp, isLiveOfApp, live } from './versions.ts'

export type Install = typeof installs.$inferSelect
type State = Pick<Install, 'approval' | 'state'>

/** A literal, as in the partial index `installs_open`: SQLite uses that index only if the condition is the same. */
const isOpen = or(eq(installs.approval, sql`'pending'`), eq(installs.state, sql`'active'`))

/** The same for `installs_pending`. */
const isPending = eq(installs.approval, sql`'pending'`)

const publishers = alias(users, 'publishers')

/** Installs of apps on websites and stores. */
export const installQueries = (db: DrizzleConnection) => {
  const hasLive = lazyReader(() =>
    db
      .select({ id: installs.id })
      .from(installs)
      .where(
        and(
          eq(installs.appId, given('appId')),
          eq(installs.userId, given('userId')),
          eq(installs.approval, given('approval')),
          eq(installs.state, given('state')),
        ),
      )
      .limit(givenLimit('limit')),
  )

  /** Live installs of an app on the resource that the builder calls so. */
  const on = (...conditions: readonly SQL[]) =>
    lazyReader(() =>
      db
        .select({ id: installs.id })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(
          and(
            eq(resources.kind, given('kind')),
            eq(resources.externalId, given('externalId')),
            eq(installs.appId, given('appId')),
            eq(installs.approval, given('approval')),
            eq(installs.state, given('state')),
            ...conditions,
          ),
        )
        .limit(givenLimit('limit')),
    )
  const onOfAnyone = on()
  const onOfUser = on(eq(installs.userId, given('userId')))

  const open = lazyReader(() =>
    db
      .select({ id: installs.id })
      .from(installs)
      .where(and(eq(installs.appId, given('appId')), eq(installs.resourceId, given('resourceId')), isOpen)),
  )

  const find = lazyReader(
    () =>
      db
        .select({ install: installs, kind: resources.kind, resourceSlug: resources.slug })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(eq(installs.id, given('id'))),
    { locks: installs }, // or a change of its scopes could follow its end
  )

  /** Installs with the names of their app, user and place. */
  const described = () =>
    db
      .select({
        install: installs,
        kind: resources.kind,
        resourceSlug: resources.slug,
        app: apps.slug,
        appName: apps.name,
        user: users.email,
      })
      .from(installs)
      .innerJoin(resources, eq(resources.id, installs.resourceId))
      .innerJoin(apps, eq(apps.id, installs.appId))
      .innerJoin(users, eq(users.id, installs.userId))

  return {
    insert: inserter(db, installs),
    /** Resources with live installs of the app, of this user or of everyone (null), as `kind:external ID`, sorted. */
    externalPlaces: async (appId: string, userId: string | null, limit: number): Promise<readonly string[]> => {
      const rows = await db
        .select({ kind: resources.kind, externalId: resources.externalId })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(
          and(
            eq(installs.appId, appId),
            userId === null ? undefined : eq(installs.userId, userId),
            eq(installs.approval, 'approved'),
            eq(installs.state, 'active'),
            isNotNull(resources.externalId),
          ),
        )
        .orderBy(asc(resources.kind), asc(resources.externalId))
        .limit(limit)
      return rows.map(({ kind, externalId }) => `${kind}:${externalId ?? ''}`)
    },
    /** Whether the app has an approved, active install on the resource; of this user, or of anyone (null). */
    isOn: (
      appId: string,
      userId: string | null,
      { kind, externalId }: { kind: Resource['kind']; externalId: string },
    ) => {
      const asked = { appId, kind, externalId, approval: 'approved', state: 'active', limit: 1 }
      return userId === null ? onOfAnyone().has(asked) : onOfUser().has({ ...asked, userId })
    },
    /** The install with its website or store. */
    find: (id: string) => find().first({ id }),
    /** Every install, of one app or of all (null), oldest first, with the names of its app, user and place. */
    list: async (appId: string | null) =>
      await described()
        .where(appId === null ? undefined : eq(installs.appId, appId))
        .orderBy(asc(installs.id)),
    /** One install with the names of its app, user and place. */
    describe: async (id: string) => (await described().where(eq(installs.id, id)))[0] ?? null,
    /** Undecided installs of apps that are not deleted, after the ID, oldest first. */
    pending: async (afterId: string, limit: number) =>
      await described()
        .where(and(isPending, gt(installs.id, afterId), isNull(apps.deletedAt)))
        .orderBy(asc(installs.id))
        .limit(limit),
    /** Decided installs before the ID, newest first, of one app or of all (null). */
    decided: async (appId: string | null, beforeId: string, limit: number) =>
      await described()
        .where(
          and(
            ne(installs.approval, 'pending'),
            lt(installs.id, beforeId),
            appId === null ? undefined : eq(installs.appId, appId),
          ),
        )
        .orderBy(desc(installs.id))
        .limit(limit),
    /** Installs of an app before the ID, newest first, without anything that identifies the user or the place. */
    pageOfApp: async (appId: string, beforeId: string, limit: number) =>
      await db
        .select({
          id: installs.id,
          kind: resources.kind,
          approval: installs.approval,
          state: installs.state,
          createdAt: installs.createdAt,
          updatedAt: installs.updatedAt,
        })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(and(eq(installs.appId, appId), lt(installs.id, beforeId)))
        .orderBy(desc(installs.id))
        .limit(limit),
    /**
     * Installs of a user before the ID, newest first, without those of deleted apps: the app, its publisher, the place, and the
     * scopes of the version that a frame opens (null if there is none).
     */
    pageOfUser: async (userId: string, beforeId: string, limit: number) =>
      await db
        .select({
          install: installs,
          kind: resources.kind,
          resourceSlug: resources.slug,
          resourceName: resources.name,
          app: apps.slug,
          appName: apps.name,
          appStatus: apps.status,
          publisher: publishers.name,
          liveScopes: live.scopes,
          headScopes: head.scopes,
        })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .innerJoin(apps, eq(apps.id, installs.appId))
        .innerJoin(publishers, eq(publishers.id, apps.ownerId))
        .leftJoin(live, isLiveOfApp)
        .leftJoin(head, isHeadOfApp)
        .where(and(eq(installs.userId, userId), lt(installs.id, beforeId), isNull(apps.deletedAt)))
        .orderBy(desc(installs.id))
        .limit(limit),
    /** How many installs of an app there are in each state. */
    countsOfApp: async (appId: string) =>
      await db
        .select({ approval: installs.approval, state: installs.state, count: count() })
        .from(installs)
        .where(eq(installs.appId, appId))
        .groupBy(installs.approval, installs.state),
    /** The install of an app on a website or store that is undecided or in use. There is never more than one. */
    findOpen: (appId: string, resourceId: string) => open().first({ appId, resourceId }),
    /** Whether the user has an approved and active install of the app, on any website or store. */
    hasLive: (appId: string, userId: string) =>
      hasLive().has({ appId, userId, approval: 'approved', state: 'active', limit: 1 }),
    setScopes: async (id: string, scopes: string, now: number) =>
      void (await db.update(installs).set({ scopes, updatedAt: now }).where(eq(installs.id, id))),
    /** Moves from one state to another; false if the install is not in that state. */
    move: async (id: string, from: State, to: State, now: number) =>
      await changeOne(
        db,
        installs,
        { ...to, updatedAt: now },
        eq(installs.id, id),
        eq(installs.approval, from.approval),
        eq(installs.state, from.state),
      ),
  }
}
