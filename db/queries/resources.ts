import { and, asc, eq, getTableColumns, gt, isNull } from 'drizzle-orm'
import { resources, users } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { finder, inserter, lazyReader, lazyWriter } from './reader.ts'

export type Resource = typeof resources.$inferSelect

/** Websites and stores. Owner and kind are part of every query. */
export const resourceQueries = (db: DrizzleConnection) => {
  const find = finder(db, resources, 'ownerId', 'kind', 'slug')
  const byExternalId = finder(db, resources, 'kind', 'externalId')
  const update = lazyWriter(() =>
    db
      .update(resources)
      .set({
        name: given('name'),
        status: given('status'),
        createdAt: given('createdAt'),
        updatedAt: given('updatedAt'),
        publishedAt: given('publishedAt'),
      })
      .where(eq(resources.id, given('id'))),
  )
  const list = lazyReader(() =>
    db
      .select({
        name: resources.name,
        slug: resources.slug,
        status: resources.status,
        createdAt: resources.createdAt,
        updatedAt: resources.updatedAt,
        publishedAt: resources.publishedAt,
      })
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
    update: (id: string, change: Pick<Resource, 'name' | 'status' | 'updatedAt' | 'publishedAt' | 'createdAt'>) =>
      update().run({ id, ...change }),
    /** The one that the builder calls so. */
    byExternalId: (kind: Resource['kind'], externalId: string) => byExternalId({ kind, externalId }),
    /** Writes every column of a known row. */
    replace: async ({ id, ...row }: Resource) => void (await db.update(resources).set(row).where(eq(resources.id, id))),
    /** Forgets what a website or store was called. The row stays, because installs and the audit log name its ID. */
    forget: async (id: string, now: number) =>
      void (await db
        .update(resources)
        .set({ name: '', slug: id, status: 'archived', externalId: null, deletedAt: now, updatedAt: now })
        .where(eq(resources.id, id))),
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
