import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  sql,
  exists,
  gte,
  lte,
  ne,
  or,
  type SQL,
} from 'drizzle-orm'
import type { Environment } from '../../src/domain/app.ts'
import { notServing } from '../../src/domain/install.ts'
import { pick } from '../../src/domain/pick.ts'
import { installs, resources, users, stagedResources as staged } from '../tables/sqlite.ts'
import { pausing, inserter, listFinder, lockingFinder, listInserter } from './rows.ts'
import { type DrizzleConnection, given, givenLimit, one } from './connection.ts'
import { lookThrough, type SearchWindow } from './places.ts'
import { inUse, liveInstalls } from './installs.ts'
import { lazyReader, shapedReader } from './reader.ts'

export type Resource = typeof resources.$inferSelect

/** Which websites or stores are sought. Null matches everything. */
type SoughtResources = Pick<Resource, 'kind'> & {
  readonly ownerId: string | null
  readonly slug: string | null
  readonly status: Resource['status'] | null
}

/** What stays of one that is forgotten. */
const forgotten = (now: number) => ({
  name: '',
  slug: sql`${resources.id}`,
  status: 'archived' as const,
  externalId: null,
  deletedAt: now,
  updatedAt: now,
})

/** Websites and stores. Owner and kind are part of every query. */
export const resourceQueries = (db: DrizzleConnection) => {
  const sent = lazyReader(db, () =>
    db
      .select({ id: resources.id, externalId: resources.externalId })
      .from(resources)
      .where(
        and(
          eq(resources.kind, given('kind')),
          isNotNull(resources.externalId),
          gt(resources.externalId, given('afterExternalId')),
        ),
      )
      .orderBy(asc(resources.externalId))
      .limit(givenLimit('limit')),
  )
  const listOf = (...conditions: readonly (SQL | undefined)[]) =>
    db
      .select(pick(resources, 'name', 'slug', 'status', 'createdAt', 'updatedAt', 'publishedAt'))
      .from(resources)
      .where(
        and(
          eq(resources.ownerId, given('ownerId', resources.ownerId)),
          eq(resources.kind, given('kind', resources.kind)),
          gt(resources.slug, given('after', resources.slug)),
          isNull(resources.deletedAt),
          ...conditions,
        ),
      )
      .orderBy(asc(resources.slug))
      .limit(givenLimit('limit'))
  const list = lazyReader(db, () => listOf())
  const listForApp = shapedReader(
    db,
    (isAsked: (name: keyof ForApp) => boolean) => {
      const isStatus = eq(resources.status, given('status', resources.status))
      const onIt = isAsked('isInstalled') ? eq(installs.resourceId, resources.id) : undefined
      // With a limit, without which SQLite makes a join of it, and sorts.
      const isInUse = exists(liveInstalls(db, onIt).limit(one))
      return listOf(isAsked('status') ? isStatus : undefined, isInUse)
    },
    { isShared: true },
  )

  return {
    insert: inserter(db, resources),
    // Both lock, or an install could come to a resource whose owner changes or that is removed.
    find: lockingFinder(db, resources, 'ownerId', 'kind', 'slug'),
    /** The one that the builder calls so. */
    byExternalId: lockingFinder(db, resources, 'kind', 'externalId'),
    /** What there is of these, in no order. */
    bySlugs: listFinder(db, resources, 'ownerId', 'kind', 'slug'),
    byExternalIds: listFinder(db, resources, 'kind', 'externalId'),
    /** Those of a kind that the builder has sent, after the external ID, by external ID. */
    sent: async (kind: Resource['kind'], afterExternalId: string, limit: number) =>
      await pausing(Promise.resolve(sent().all({ kind, afterExternalId, limit }))),
    /** Writes every column of a known row. */
    replace: async ({ id, ...row }: Resource) => void (await db.update(resources).set(row).where(eq(resources.id, id))),
    /** Forgets what a website or store was called. The row stays, because installs and the audit log name its ID. */
    forget: async (id: string, now: number) =>
      void (await db.update(resources).set(forgotten(now)).where(eq(resources.id, id))),
    /** The same for those that the builder has sent. Returns how many. */
    forgetSent: async (ids: readonly string[], now: number): Promise<number> => {
      const sent = and(inArray(resources.id, [...ids]), isNotNull(resources.externalId))
      return (await pausing(db.update(resources).set(forgotten(now)).where(sent).returning({ id: resources.id })))
        .length
    },
    /** Everything that a user has, by ID. */
    ofOwner: async (ownerId: string): Promise<Resource[]> =>
      await db
        .select()
        .from(resources)
        .where(and(eq(resources.ownerId, ownerId), isNull(resources.deletedAt)))
        .orderBy(asc(resources.id)),
    /** Those that match, oldest first, with the builder's ID of their owner. The window and `searchedTo` are as for users. */
    search: async ({ kind, ownerId, slug, status }: SoughtResources, window: SearchWindow) => {
      const ofOwner = ownerId === null ? undefined : eq(resources.ownerId, ownerId)
      const { isWithin, order, searchedTo } = await lookThrough(db, resources.id, 'ascending', window, ofOwner)
      const found = await db
        .select({ resource: getTableColumns(resources), ownerExternalId: users.externalId })
        .from(resources)
        .innerJoin(users, eq(users.id, resources.ownerId))
        .where(
          and(
            isWithin,
            eq(resources.kind, kind),
            isNull(resources.deletedAt),
            slug === null ? undefined : eq(resources.slug, slug),
            status === null ? undefined : eq(resources.status, status),
          ),
        )
        .orderBy(order)
        .limit(window.limit)
      return { found, searchedTo }
    },
    /** One owner's resources of a kind, after the slug, by slug. */
    list: (ownerId: string, kind: Resource['kind'], afterSlug: string, limit: number) =>
      list().all({ ownerId, kind, after: afterSlug, limit }),
    /** Those of them that an app may list: none, unless the owner has a live install of it that serves this environment. */
    listForApp: ({ environment, ...asked }: AskedByApp) =>
      listForApp({ ...asked, userId: asked.ownerId, without: notServing(environment), ...inUse }),
  }
}

/** Which websites or stores of an owner an app asks for, after a slug. Null matches everything. */
type AskedByApp = Pick<Resource, 'ownerId' | 'kind'> & {
  readonly appId: string
  readonly environment: Environment
  readonly status: Resource['status'] | null
  /** Only those on which the app is in use. */
  readonly isInstalled: true | null
  readonly after: string
  readonly limit: number
}
type ForApp = Omit<AskedByApp, 'environment'> & {
  readonly userId: string
  readonly without: Environment
} & typeof inUse

export type StagedResource = typeof staged.$inferSelect

/** Some lines of an import: its key, and the first and the last of them. */
export type StagedLines = { readonly key: string; readonly first: number; readonly last: number }

const within = ({ key, first, last }: StagedLines) =>
  and(eq(staged.importKey, key), gte(staged.line, first), lte(staged.line, last))

const isOfNew = sql`${staged.change} = 'create'`
const isMove = sql`${staged.change} = 'move'`
const isChange = sql`${staged.change} in ('move', 'update')`

const hasItsSlug = and(
  eq(resources.ownerId, staged.ownerId),
  eq(resources.kind, staged.kind),
  eq(resources.slug, staged.slug),
)
const hasItsExternalId = and(eq(resources.kind, staged.kind), eq(resources.externalId, staged.externalId))

/** Lines of the kind, with the stored resource that they are about. */
const withResource = (lines: StagedLines, kind: SQL) => and(eq(resources.id, staged.resourceId), within(lines), kind)

/**
 * Lines of imports of websites and stores, and what becomes of them in one long transaction. Whatever is about many lines pauses
 * after some of them.
 */
export const stagedResourceQueries = (db: DrizzleConnection) => {
  const hasOther = (what: SQL | undefined) =>
    exists(
      db
        .select({ id: resources.id })
        .from(resources)
        .where(and(what, ne(resources.id, staged.resourceId))),
    )

  return {
    insert: listInserter(db, staged),
    read: async (lines: StagedLines): Promise<StagedResource[]> =>
      await pausing(db.select().from(staged).where(within(lines)).orderBy(asc(staged.line))),
    /** Corrects what a line does, and to which resource. */
    correct: async ({ importKey, line, change, resourceId }: StagedResource): Promise<void> =>
      void (await db
        .update(staged)
        .set({ change, resourceId })
        .where(and(eq(staged.importKey, importKey), eq(staged.line, line)))),
    /** Lines of these owners. */
    ofOwners: async (lines: StagedLines, ownerIds: readonly string[]): Promise<readonly number[]> => {
      const owned = and(within(lines), inArray(staged.ownerId, [...ownerIds]))
      return (await pausing(db.select({ line: staged.line }).from(staged).where(owned))).map(({ line }) => line)
    },
    /** Resources that get another owner. */
    handedOver: async (lines: StagedLines): Promise<readonly string[]> => {
      const handed = and(withResource(lines, isMove), ne(staged.ownerId, resources.ownerId))
      const rows = await pausing(db.select({ id: resources.id }).from(staged).innerJoin(resources, handed))
      return rows.map(({ id }) => id)
    },
    /** Resources that change and have live installs. */
    changedWithInstalls: async (lines: StagedLines): Promise<readonly string[]> => {
      const live = and(
        eq(installs.resourceId, staged.resourceId),
        within(lines),
        isChange,
        eq(installs.state, 'active'),
      )
      const rows = await pausing(db.selectDistinct({ id: installs.resourceId }).from(staged).innerJoin(installs, live))
      return rows.map(({ id }) => id)
    },
    /** Gives resources whose slug or owner changes a slug that no other has, because two may exchange theirs. */
    setAside: async (lines: StagedLines): Promise<void> => {
      const leaves = or(ne(staged.slug, resources.slug), ne(staged.ownerId, resources.ownerId))
      await pausing(
        db
          .update(resources)
          .set({ slug: sql`${resources.id}` })
          .from(staged)
          .where(and(withResource(lines, isMove), leaves)),
      )
    },
    /** Whether another resource has the slug or the external ID that a move gives. */
    meetsOther: async (lines: StagedLines): Promise<boolean> => {
      const met = and(within(lines), isMove, or(hasOther(hasItsSlug), hasOther(hasItsExternalId)))
      return (await pausing(db.select({ line: staged.line }).from(staged).where(met).limit(1))).length > 0
    },
    /** Changes known resources, unless they are not those of the lines any more. Returns how many. */
    change: async (lines: StagedLines, now: number): Promise<number> => {
      const hasNoOtherId = or(isNull(staged.externalId), isNull(resources.externalId))
      const isStillIts = or(hasItsExternalId, and(hasItsSlug, hasNoOtherId))
      const changed = await pausing(
        db
          .update(resources)
          .set({
            ownerId: sql`${staged.ownerId}`,
            externalId: sql`coalesce(${staged.externalId}, ${resources.externalId})`,
            name: sql`${staged.name}`,
            slug: sql`${staged.slug}`,
            status: sql`${staged.status}`,
            // What is not stated gives way, so that no record was changed before it was made.
            createdAt: sql`coalesce(${staged.createdAt},
              case when ${staged.updatedAt} < ${resources.createdAt} then ${staged.updatedAt} else ${resources.createdAt} end)`,
            updatedAt: sql`coalesce(${staged.updatedAt},
              case when ${staged.createdAt} > ${now} then ${staged.createdAt} else ${now} end)`,
            publishedAt: sql`coalesce(${staged.publishedAt},
              case when ${staged.status} = 'draft' then null else ${resources.publishedAt} end,
              case when ${staged.status} = 'published' then ${now} end)`,
          })
          .from(staged)
          .where(and(withResource(lines, isChange), isStillIts, isNull(resources.deletedAt)))
          .returning({ changed: sql`1` }),
      )
      return changed.length
    },
    /** Creates new resources, unless another one has their slug or external ID. Returns how many. */
    create: async (lines: StagedLines, now: number): Promise<number> => {
      const rows = db
        .select({
          id: sql<string>`${staged.resourceId}`.as('id'),
          ownerId: sql<string>`${staged.ownerId}`.as('owner_id'),
          kind: sql<'site' | 'store'>`${staged.kind}`.as('kind'),
          name: sql<string>`${staged.name}`.as('name'),
          slug: sql<string>`${staged.slug}`.as('slug'),
          status: sql<'draft'>`${staged.status}`.as('status'),
          createdAt: sql<number>`${staged.newCreatedAt}`.as('created_at'),
          updatedAt:
            sql<number>`coalesce(${staged.updatedAt}, case when ${staged.newCreatedAt} > ${now} then ${staged.newCreatedAt} else ${now} end)`.as(
              'updated_at',
            ),
          publishedAt:
            sql<number>`coalesce(${staged.publishedAt}, case when ${staged.status} = 'published' then ${now} end)`.as(
              'published_at',
            ),
          externalId: sql<string>`${staged.externalId}`.as('external_id'),
          deletedAt: sql<number>`null`.as('deleted_at'),
        })
        .from(staged)
        .where(and(within(lines), isOfNew))
        .orderBy(asc(staged.line))
      const insert = db.insert(resources).select(rows).onConflictDoNothing()
      return (await pausing(insert.returning({ created: sql`1` }))).length
    },
    forget: async (lines: StagedLines): Promise<void> => void (await db.delete(staged).where(within(lines))),
  }
}
