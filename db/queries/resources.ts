import { and, asc, eq, gt } from 'drizzle-orm'
import { resources } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { finder, inserter, lazyReader, lazyWriter } from './reader.ts'

export type Resource = typeof resources.$inferSelect

/** Websites and stores. Owner and kind are part of every query. */
export const resourceQueries = (db: DrizzleConnection) => {
  const find = finder(db, resources, 'ownerId', 'kind', 'slug')
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
    setExternalId: async (id: string, externalId: string | null) =>
      void (await db.update(resources).set({ externalId }).where(eq(resources.id, id))),
    /** One owner's resources of a kind, after the slug, by slug. */
    list: (ownerId: string, kind: Resource['kind'], afterSlug: string, limit: number) =>
      list().all({ ownerId, kind, afterSlug, limit }),
  }
}
