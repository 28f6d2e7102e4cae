import { and, asc, eq, lt } from 'drizzle-orm'
import { formTickets, idempotencyKeys } from '../tables/sqlite.ts'
import { removeSome } from './changes.ts'
import { type DrizzleConnection, everyColumn, given } from './connection.ts'
import { lazyReader, lazyWriter } from './reader.ts'
import { inserter } from './rows.ts'

export type KeptOutcome = typeof idempotencyKeys.$inferSelect
export type IdempotencyScope = Pick<KeptOutcome, 'principal' | 'method' | 'path' | 'key'>

/** Outcomes of repeatable requests, by caller, method, path and key. */
export const idempotencyQueries = (db: DrizzleConnection) => {
  const scope = and(
    eq(idempotencyKeys.principal, given('principal')),
    eq(idempotencyKeys.method, given('method')),
    eq(idempotencyKeys.path, given('path')),
    eq(idempotencyKeys.key, given('key')),
  )
  const find = lazyReader(db, () => db.select().from(idempotencyKeys).where(scope))
  const remove = lazyWriter(db, () => db.delete(idempotencyKeys).where(scope))
  const insert = inserter(db, idempotencyKeys)

  return {
    find: (asked: IdempotencyScope) => find().first({ ...asked }),
    /** Keeps an outcome, instead of an expired one if any, in the transaction of the effect that it reports. */
    keep: async (kept: KeptOutcome) => {
      await remove().run({ ...kept })
      await insert(kept)
    },
    /** Removes up to `limit` outcomes, each by its whole scope: two callers may have chosen the same key. */
    purge: async (expiredBefore: number, limit: number) => {
      const { principal, method, path, key } = idempotencyKeys
      const due = await db
        .select({ principal, method, path, key })
        .from(idempotencyKeys)
        .where(lt(idempotencyKeys.expiresAt, expiredBefore))
        .limit(limit)
      for (const row of due) await remove().run(row)
      return due.length
    },
  }
}

/** Forms of pages that have been submitted. */
export const formTicketQueries = (db: DrizzleConnection) => {
  const spend = lazyWriter(db, () => db.insert(formTickets).values(everyColumn(formTickets)).onConflictDoNothing())

  return {
    isSpent: async (key: string) => (await db.select().from(formTickets).where(eq(formTickets.key, key))).length > 0,
    /** Spends the ticket; true for exactly one of any number of racing calls. */
    spend: (key: string, now: number) => spend().hasChanged({ key, spentAt: now }),
    /** Removes up to `limit` tickets issued before the key, and returns how many. */
    purge: async (before: string, limit: number) =>
      await removeSome(db, formTickets.key, lt(formTickets.key, before), limit, asc(formTickets.key)),
  }
}
