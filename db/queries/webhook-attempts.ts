import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm'
import { webhookAttempts } from '../tables/sqlite.ts'
import { type Connection, everyColumn, lazily } from './connection.ts'

export type WebhookAttempt = typeof webhookAttempts.$inferSelect

/** What came of each call of an endpoint. */
export const webhookAttemptQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(webhookAttempts).values(everyColumn(webhookAttempts)).prepare())

  return {
    insert: async (attempt: WebhookAttempt) => void (await insert().execute(attempt)),
    /** The attempts at an endpoint before the ID, newest first. */
    pageOfEndpoint: async (endpointId: string, beforeId: string, limit: number): Promise<WebhookAttempt[]> =>
      await db
        .select()
        .from(webhookAttempts)
        .where(and(eq(webhookAttempts.endpointId, endpointId), lt(webhookAttempts.id, beforeId)))
        .orderBy(desc(webhookAttempts.id))
        .limit(limit),
    /** Removes up to `limit` attempts with an ID before this one; gives how many. */
    purge: async (beforeId: string, limit: number) => {
      const due = db.select({ id: webhookAttempts.id }).from(webhookAttempts).where(lt(webhookAttempts.id, beforeId))
      const first = due.orderBy(asc(webhookAttempts.id)).limit(limit)
      return (
        await db.delete(webhookAttempts).where(inArray(webhookAttempts.id, first)).returning({ id: webhookAttempts.id })
      ).length
    },
  }
}
