import { and, asc, count, desc, eq, inArray, isNotNull, lt, ne, notExists, sql, sum } from 'drizzle-orm'
import { apps, artifactChunks, artifacts, versions } from '../tables/sqlite.ts'
import { type DrizzleConnection, everyColumn, given, only } from './connection.ts'
import { lazyReader, lazyWriter } from './reader.ts'

const total = sql<number>`coalesce(sum(${artifacts.sizeBytes}), 0)`.mapWith(Number)

/** Uploaded files, stored once per SHA-256, in pieces. */
export const artifactQueries = (db: DrizzleConnection) => {
  const insertChunk = lazyWriter(db, () =>
    db
      .insert(artifactChunks)
      .values(everyColumn(artifactChunks))
      .onConflictDoUpdate({
        target: [artifactChunks.sha256, artifactChunks.position],
        set: { data: sql`excluded.data` },
        setWhere: ne(artifactChunks.data, sql`excluded.data`),
      }),
  )
  const chunk = lazyReader(db, () =>
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
    /**
     * Apps by the bytes of their artifacts, the largest first, each artifact once. Null if more than `mostVersions` versions have
     * one, because it reads them all, from an index.
     */
    largestUses: async (limit: number, mostVersions: number) => {
      const hasArtifact = isNotNull(versions.artifactSha256)
      const beyond = db
        .select({ appId: versions.appId })
        .from(versions)
        .where(hasArtifact)
        .limit(1)
        .offset(mostVersions)
      if ((await beyond).length > 0) return null
      const { appId, artifactSha256: sha256, artifactSizeBytes } = versions
      const used = db.selectDistinct({ appId, sha256, artifactSizeBytes }).from(versions).where(hasArtifact).as('used')
      const bytes = sum(used.artifactSizeBytes).mapWith(Number)
      const largest = db
        .select({ appId: used.appId, bytes: bytes.as('bytes') })
        .from(used)
        .groupBy(used.appId)
        .orderBy(desc(bytes))
        .limit(limit)
        .as('largest')
      return await db
        .select({ id: apps.id, slug: apps.slug, name: apps.name, bytes: largest.bytes })
        .from(largest)
        .innerJoin(apps, eq(apps.id, largest.appId))
        .orderBy(desc(largest.bytes), asc(apps.slug))
    },
    /**
     * Removes this artifact if no version uses it, and only as it was stored at that time, if one is given. An upload that is just
     * about to use it finds it missing and asks for a repetition.
     */
    removeUnused: async (sha256: Uint8Array, storedAt?: number) => {
      const used = db.select({ id: versions.id }).from(versions).where(eq(versions.artifactSha256, sha256))
      const removed = await db
        .delete(artifacts)
        .where(
          and(
            eq(artifacts.sha256, sha256),
            storedAt === undefined ? undefined : eq(artifacts.createdAt, storedAt),
            notExists(used),
          ),
        )
        .returning({ sha256: artifacts.sha256 })
      if (removed.length > 0) await db.delete(artifactChunks).where(eq(artifactChunks.sha256, sha256))
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
