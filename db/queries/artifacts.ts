import { and, asc, eq, inArray, lt, notExists } from 'drizzle-orm'
import { artifactChunks, artifacts, versions } from '../tables/sqlite.ts'
import { type Connection, only } from './connection.ts'

/** Uploaded files, once per SHA-256, in pieces. */
export const artifactQueries = (db: Connection) => ({
  find: async (sha256: Uint8Array) => only(await db.select().from(artifacts).where(eq(artifacts.sha256, sha256))),
  /** Records an artifact; the same content a second time only renews its time. */
  insert: async (artifact: typeof artifacts.$inferSelect) =>
    void (await db
      .insert(artifacts)
      .values(artifact)
      .onConflictDoUpdate({ target: artifacts.sha256, set: { createdAt: artifact.createdAt } })),
  insertChunk: async (chunk: typeof artifactChunks.$inferSelect) =>
    void (await db.insert(artifactChunks).values(chunk).onConflictDoNothing()),
  chunk: async (sha256: Uint8Array, position: number) =>
    only(
      await db
        .select({ data: artifactChunks.data })
        .from(artifactChunks)
        .where(and(eq(artifactChunks.sha256, sha256), eq(artifactChunks.position, position)))
        .orderBy(asc(artifactChunks.position)),
    ),
  /** Removes artifacts stored before the time that no version uses. */
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
})
