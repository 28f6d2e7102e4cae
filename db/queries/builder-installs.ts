import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, type SQL } from 'drizzle-orm'
import { apps, installs, resources, users } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { type Install, isOpen } from './installs.ts'
import { lazyReader } from './reader.ts'
import type { Resource } from './resources.ts'

/** Installs as the builder asks about them: by its own IDs of people, websites and stores. */
export const builderInstallQueries = (db: DrizzleConnection) => {
  /** Live installs of an app on the resource that the builder calls so. */
  const on = (...conditions: readonly SQL[]) =>
    lazyReader(db, () =>
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
  const openOn = lazyReader(
    db,
    () =>
      db
        .select({
          id: installs.id,
          appId: installs.appId,
          environment: installs.environment,
          was: installs.approval,
        })
        .from(installs)
        .where(and(eq(installs.resourceId, given('resourceId')), isOpen)),
    { locks: installs }, // or one that is being approved would be withdrawn
  )
  const onOfAnyone = on()
  const onOfUser = on(eq(installs.userId, given('userId')))

  return {
    /** Whether the app has an approved, active install on the resource; of this user, or of anyone (null). */
    isOn: (
      appId: string,
      userId: string | null,
      { kind, externalId }: { kind: Resource['kind']; externalId: string },
    ) => {
      const asked = { appId, kind, externalId, approval: 'approved', state: 'active', limit: 1 }
      return userId === null ? onOfAnyone().has(asked) : onOfUser().has({ ...asked, userId })
    },
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
    /** Installs of apps that are not deleted, before the ID, newest first, with the builder's IDs of owner and place. */
    forBuilder: async (
      of: { readonly id?: string; readonly approval?: Install['approval'] | null; readonly userId?: string | null },
      beforeId: string,
      limit: number,
    ) =>
      await db
        .select({
          install: installs,
          app: { slug: apps.slug, name: apps.name },
          userExternalId: users.externalId,
          resourceKind: resources.kind,
          resourceExternalId: resources.externalId,
        })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .innerJoin(apps, eq(apps.id, installs.appId))
        .innerJoin(users, eq(users.id, installs.userId))
        .where(
          and(
            lt(installs.id, beforeId),
            isNull(apps.deletedAt),
            of.id === undefined ? undefined : eq(installs.id, of.id),
            (of.approval ?? null) === null ? undefined : eq(installs.approval, of.approval ?? 'pending'),
            (of.userId ?? null) === null ? undefined : eq(installs.userId, of.userId ?? ''),
          ),
        )
        .orderBy(desc(installs.id))
        .limit(limit),
    /** Which of these websites and stores have open installs. */
    openOn: async (resourceIds: readonly string[]): Promise<readonly string[]> => {
      const open = and(inArray(installs.resourceId, [...resourceIds]), isOpen)
      const rows = await db.selectDistinct({ id: installs.resourceId }).from(installs).where(open)
      return rows.map(({ id }) => id)
    },
    /** Ends every open install on a website or store, and returns them with what they were. */
    endOn: async (resourceId: string, now: number) => {
      const ending = await openOn().all({ resourceId })
      for (const { id, was } of ending) {
        const approval = was === 'pending' ? 'withdrawn' : was
        await db.update(installs).set({ approval, state: 'inactive', updatedAt: now }).where(eq(installs.id, id))
      }
      return ending
    },
  }
}
