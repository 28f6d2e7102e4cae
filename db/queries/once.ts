import { and, eq } from 'drizzle-orm'
import { formTickets, idempotencyKeys } from '../tables/sqlite.ts'
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
  }
}

/** Forms of pages that have been submitted. */
export const formTicketQueries = (db: DrizzleConnection) => {
  const spend = lazyWriter(db, () => db.insert(formTickets).values(everyColumn(formTickets)).onConflictDoNothing())

  return {
    isSpent: async (key: string) => (await db.select().from(formTickets).where(eq(formTickets.key, key))).length > 0,
    /** Spends the ticket; true for exactly one of any number of racing calls. */
    spend: (key: string, now: number) => spend().hasChanged({ key, spentAt: now }),
  }
}
