import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import { formTickets, idempotencyKeys } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, lazily } from './connection.ts'
import { inserter, reader, writer } from './reader.ts'

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
  const find = lazily(() => reader(db.select().from(idempotencyKeys).where(scope)))
  const remove = lazily(() => writer(db.delete(idempotencyKeys).where(scope)))
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
    /** Removes up to `limit` tickets issued before the key, and returns how many. */
    purge: async (before: string, limit: number) => {
      const due = db.select({ key: formTickets.key }).from(formTickets).where(lt(formTickets.key, before))
      const first = due.orderBy(asc(formTickets.key)).limit(limit)
      return (await db.delete(formTickets).where(inArray(formTickets.key, first)).returning({ key: formTickets.key }))
        .length
    },
  }
}
