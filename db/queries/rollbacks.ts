import { rollbacks } from '../tables/sqlite.ts'
import { desc, eq } from 'drizzle-orm'
import type { Connection } from './connection.ts'

export type Rollback = typeof rollbacks.$inferSelect

/** The ledger: rows are added, never changed. */
export const rollbackQueries = (db: Connection) => ({
  insert: async (rollback: Rollback) => void (await db.insert(rollbacks).values(rollback)),
  listByApp: async (appId: string): Promise<Rollback[]> =>
    await db.select().from(rollbacks).where(eq(rollbacks.appId, appId)).orderBy(desc(rollbacks.id)),
})
