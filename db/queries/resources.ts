import { and, asc, eq, getTableColumns, gt, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import { resources, users } from '../tables/sqlite.ts'
import { pausing } from './changes.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { lazyReader } from './reader.ts'
import { inserter, listFinder, lockingFinder } from './rows.ts'

export type Resource = typeof resources.$inferSelect

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
  // They lock, or an install could come to a resource whose owner changes or that is removed.
  const find = lockingFinder(db, resources, 'ownerId', 'kind', 'slug')
  const byExternalId = lockingFinder(db, resources, 'kind', 'externalId')
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
  const list = lazyReader(db, () =>
    db
      .select(pick(resources, 'name', 'slug', 'status', 'createdAt', 'updatedAt', 'publishedAt'))
      .from(resources)
      .where(
        and(
          eq(resources.ownerId, given('ownerId')),
          eq(resources.kind, given('kind')),
          gt(resources.slug, given('afterSlug')),
          isNull(resources.deletedAt),
        ),
      )
      .orderBy(asc(resources.slug))
      .limit(givenLimit('limit')),
  )

  return {
    insert: inserter(db, resources),
    find: (ownerId: string, kind: Resource['kind'], slug: string) => find({ ownerId, kind, slug }),
    /** The one that the builder calls so. */
    byExternalId: (kind: Resource['kind'], externalId: string) => byExternalId({ kind, externalId }),
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
    /** Those of a kind after the ID, oldest first, with the builder's ID of their owner. */
    listPage: async (kind: Resource['kind'], afterId: string, limit: number) =>
      await db
        .select({ resource: getTableColumns(resources), ownerExternalId: users.externalId })
        .from(resources)
        .innerJoin(users, eq(users.id, resources.ownerId))
        .where(and(eq(resources.kind, kind), gt(resources.id, afterId), isNull(resources.deletedAt)))
        .orderBy(asc(resources.id))
        .limit(limit),
    /** One owner's resources of a kind, after the slug, by slug. */
    list: (ownerId: string, kind: Resource['kind'], afterSlug: string, limit: number) =>
      list().all({ ownerId, kind, afterSlug, limit }),
  }
}
