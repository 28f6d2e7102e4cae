import { and, asc, eq, gt } from 'drizzle-orm'
import { resources } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, givenLimit, lazily, only } from './connection.ts'
import { reader } from './reader.ts'

export type Resource = typeof resources.$inferSelect

/** Websites and stores, always asked for by owner and kind. */
export const resourceQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(resources).values(everyColumn(resources)).prepare())
  const find = lazily(() =>
    db
      .select()
      .from(resources)
      .where(
        and(
          eq(resources.ownerId, given('ownerId')),
          eq(resources.kind, given('kind')),
          eq(resources.slug, given('slug')),
        ),
      )
      .prepare(),
  )
  const update = lazily(() =>
    db
      .update(resources)
      .set({
        name: given('name'),
        status: given('status'),
        createdAt: given('createdAt'),
        updatedAt: given('updatedAt'),
        publishedAt: given('publishedAt'),
      })
      .where(eq(resources.id, given('id')))
      .prepare(),
  )
  const list = lazily(() =>
    reader(
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
    ),
  )

  return {
    insert: async (resource: Resource) => void (await insert().execute(resource)),
    find: async (ownerId: string, kind: Resource['kind'], slug: string) =>
      only(await find().execute({ ownerId, kind, slug })),
    update: async (id: string, change: Pick<Resource, 'name' | 'status' | 'updatedAt' | 'publishedAt' | 'createdAt'>) =>
      void (await update().execute({ id, ...change })),
    /** One owner's resources of a kind after the slug, by slug; the owner is part of the question. */
    list: (ownerId: string, kind: Resource['kind'], afterSlug: string, limit: number) =>
      list().all({ ownerId, kind, afterSlug, limit }),
  }
}
