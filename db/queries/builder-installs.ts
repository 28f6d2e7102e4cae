import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Environment } from '../../src/domain/app.ts'
import { notServing } from '../../src/domain/install.ts'
import { pick } from '../../src/domain/pick.ts'
import { apps, installs, resources, users } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { type Install, isOpen, inUse, servesEnvironment } from './installs.ts'
import { lazyReader } from './reader.ts'
import type { Resource } from './resources.ts'

/** By what the builder looks for installs. */
const soughtBy = ['id', 'approval', 'state', 'userId', 'appId'] as const
type Sought = Pick<Install, (typeof soughtBy)[number]>

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
            servesEnvironment,
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
          ...pick(installs, 'appId', 'userId', 'environment', 'resourceId'),
          was: installs.approval,
        })
        .from(installs)
        .where(and(eq(installs.resourceId, given('resourceId')), isOpen)),
    { locks: installs }, // or one that is being approved would be withdrawn
  )
  const onOfAnyone = on()
  const onOfUser = on(eq(installs.userId, given('userId')))

  return {
    /** Whether the app has an approved, active install on the resource that serves this environment; of this user, or of anyone (null). */
    isOn: (
      { appId, environment }: { readonly appId: string; readonly environment: Environment },
      userId: string | null,
      { kind, externalId }: { kind: Resource['kind']; externalId: string },
    ) => {
      const asked = { appId, without: notServing(environment), kind, externalId, ...inUse, limit: 1 }
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
      of: Partial<{ readonly [Name in keyof Sought]: Sought[Name] | null }>,
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
            ...soughtBy.map((name) => (of[name] == null ? undefined : eq(installs[name], of[name]))),
          ),
        )
        .orderBy(desc(installs.id))
        .limit(limit),
    /** Which of these websites and stores have open installs, with the builder's IDs. */
    openOn: async (resourceIds: readonly string[]) =>
      await db
        .selectDistinct(pick(resources, 'id', 'kind', 'externalId'))
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(and(inArray(installs.resourceId, [...resourceIds]), isOpen)),
    /** Live installs on these websites and stores, with the builder's IDs. */
    liveOn: async (resourceIds: readonly string[]) =>
      await db
        .select({ ...pick(installs, 'id', 'appId', 'environment', 'userId'), ...pick(resources, 'kind', 'externalId') })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(and(inArray(installs.resourceId, [...resourceIds]), eq(installs.state, sql`'active'`), isOpen)),
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
