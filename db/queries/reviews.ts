import { asc, eq } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import { reviewMessages, users } from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'
import { inserter } from './rows.ts'

/** Questions of operators about versions, and the answers of members. Rows are added, and removed with their version or author. */
export const reviewMessageQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, reviewMessages),
  /** All about a version, the oldest first, with the names of their authors. Their number is limited. */
  ofVersion: async (versionId: string) =>
    await db
      .select({ ...pick(reviewMessages, 'id', 'side', 'text', 'createdAt'), authorName: users.name })
      .from(reviewMessages)
      .innerJoin(users, eq(users.id, reviewMessages.authorId))
      .where(eq(reviewMessages.versionId, versionId))
      .orderBy(asc(reviewMessages.id)),
  removeOfVersion: async (versionId: string) =>
    void (await db.delete(reviewMessages).where(eq(reviewMessages.versionId, versionId))),
})
