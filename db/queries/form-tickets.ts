import { asc, inArray, lt, sql } from 'drizzle-orm'
import { formTickets } from '../tables/sqlite.ts'
import { type Connection, lazily } from './connection.ts'

/** Forms of pages that have acted. */
export const formTicketQueries = (db: Connection) => {
  const spend = lazily(() =>
    db
      .insert(formTickets)
      .values({ key: sql.placeholder('key'), spentAt: sql.placeholder('spentAt') })
      .onConflictDoNothing()
      .returning({ key: formTickets.key })
      .prepare(),
  )

  return {
    /** Spends the ticket; true for exactly one of any number of racing calls. */
    spend: async (key: string, now: number) => (await spend().execute({ key, spentAt: now })).length === 1,
    /** Removes up to `limit` tickets issued before the key; gives how many. */
    purge: async (before: string, limit: number) => {
      const due = db.select({ key: formTickets.key }).from(formTickets).where(lt(formTickets.key, before))
      const first = due.orderBy(asc(formTickets.key)).limit(limit)
      return (await db.delete(formTickets).where(inArray(formTickets.key, first)).returning({ key: formTickets.key }))
        .length
    },
  }
}
