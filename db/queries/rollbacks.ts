import { and, desc, eq, lt } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { rollbacks, versions } from '../tables/sqlite.ts'
import type { Connection } from './connection.ts'

export type Rollback = typeof rollbacks.$inferSelect

const from = alias(versions, 'from_version')
const to = alias(versions, 'to_version')

/** The ledger: rows are added, never changed. */
export const rollbackQueries = (db: Connection) => ({
  insert: async (rollback: Rollback) => void (await db.insert(rollbacks).values(rollback)),
  /** Rollbacks of an app before the ID, newest first, with what the two versions are called. */
  pageOfApp: async (appId: string, beforeId: string, limit: number) =>
    await db
      .select({
        id: rollbacks.id,
        environment: rollbacks.environment,
        from: from.version,
        to: to.version,
        reason: rollbacks.reason,
        createdAt: rollbacks.createdAt,
      })
      .from(rollbacks)
      .innerJoin(from, eq(from.id, rollbacks.fromVersionId))
      .innerJoin(to, eq(to.id, rollbacks.toVersionId))
      .where(and(eq(rollbacks.appId, appId), lt(rollbacks.id, beforeId)))
      .orderBy(desc(rollbacks.id))
      .limit(limit),
})
