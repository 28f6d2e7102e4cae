import { and, asc, count, desc, eq, inArray, isNotNull, lt, ne, notExists, sql, sum } from 'drizzle-orm'
import { apps, artifactChunks, artifacts, versions } from '../tables/sqlite.ts'
import { type DrizzleConnection, everyColumn, given, only } from './connection.ts'
import { lazyReader, lazyWriter } from './reader.ts'

const total = sql<number>`coalesce(sum(${artifacts.sizeBytes}), 0)`.mapWith(Number)

/** Uploaded files, stored once per SHA-256, in pieces. */
export const artifactQueries = (db: DrizzleConnection) => {
  const insertChunk = lazyWriter(() =>
    db
      .insert(artifactChunks)
      .values(everyColumn(artifactChunks))
      .onConflictDoUpdate({
        target: [artifactChunks.sha256, artifactChunks.position],
        set: { data: sql`excluded.data` },
        setWhere: ne(artifactChunks.data, sql`excluded.data`),
      }),
  )
  const chunk = lazyReader(() =>
    db
      .select({ data: artifactChunks.data })
      .from(artifactChunks)
      .where(and(eq(artifactChunks.sha256, given('sha256')), eq(artifactChunks.position, given('position')))),
  )

  return {
    find: async (sha256: Uint8Array) => only(await db.select().from(artifacts).where(eq(artifacts.sha256, sha256))),
    /** Records an artifact. The same content again renews its time. */
    insert: async ({ sha256, ...facts }: typeof artifacts.$inferSelect) =>
      void (await db
        .insert(artifacts)
        .values({ sha256, ...facts })
        .onConflictDoUpdate({ target: artifacts.sha256, set: facts })),
    /** Stores a piece. An existing one is written again only if it is damaged. */
    insertChunk: (piece: typeof artifactChunks.$inferSelect) => insertChunk().run(piece),
    chunk: (sha256: Uint8Array, position: number) => chunk().first({ sha256, position }),
    /** Number and size of all artifacts, used or not. */
    totals: async () => {
      const [found] = await db.select({ files: count(), bytes: total }).from(artifacts)
      return { files: found?.files ?? 0, bytes: found?.bytes ?? 0 }
    },
    /** Apps by the bytes of their artifacts, the largest first, each artifact once. Read from an index. */
    largestUses: async (limit: number) => {
      const used = db
        .selectDistinct({
          appId: versions.appId,
          sha256: versions.artifactSha256,
          sizeBytes: versions.artifactSizeBytes,
        })
        .from(versions)
        .where(isNotNull(versions.artifactSha256))
        .as('used')
      const bytes = sum(used.sizeBytes).mapWith(Number)
      return await db
        .select({ slug: apps.slug, name: apps.name, bytes })
        .from(used)
        .innerJoin(apps, eq(apps.id, used.appId))
        .groupBy(apps.id, apps.slug, apps.name)
        .orderBy(desc(bytes), asc(apps.slug))
        .limit(limit)
    },
    /** Removes up to `limit` artifacts that were stored before the time and that no version uses. */
    purgeUnused: async (createdBefore: number, limit: number) => {
      const used = db.select({ id: versions.id }).from(versions).where(eq(versions.artifactSha256, artifacts.sha256))
      const unused = await db
        .select({ sha256: artifacts.sha256 })
        .from(artifacts)
        .where(and(lt(artifacts.createdAt, createdBefore), notExists(used)))
        .limit(limit)
      const hashes = unused.map((row) => row.sha256)
      if (hashes.length > 0) {
        await db.delete(artifacts).where(inArray(artifacts.sha256, hashes))
        await db.delete(artifactChunks).where(inArray(artifactChunks.sha256, hashes))
      }
      return hashes.length
    },
  }
}
