import { and, eq, lt } from 'drizzle-orm'
import { idempotencyKeys } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily, only } from './connection.ts'

export type KeptOutcome = typeof idempotencyKeys.$inferSelect
export type IdempotencyScope = Pick<KeptOutcome, 'principal' | 'method' | 'path' | 'key'>

/** Outcomes of repeatable requests, under who asked, where, and the key. */
export const idempotencyQueries = (db: Connection) => {
  const scope = and(
    eq(idempotencyKeys.principal, given('principal')),
    eq(idempotencyKeys.method, given('method')),
    eq(idempotencyKeys.path, given('path')),
    eq(idempotencyKeys.key, given('key')),
  )
  const find = lazily(() => db.select().from(idempotencyKeys).where(scope).prepare())
  const remove = lazily(() => db.delete(idempotencyKeys).where(scope).prepare())
  const insert = lazily(() => db.insert(idempotencyKeys).values(everyColumn(idempotencyKeys)).prepare())

  return {
    find: async (asked: IdempotencyScope) => only(await find().execute({ ...asked })),
    /** Keeps an outcome in the place of an expired one, in the transaction of the effect it tells. */
    keep: async (kept: KeptOutcome) => {
      await remove().execute({ ...kept })
      await insert().execute(kept)
    },
    /** Removes up to `limit` outcomes, each by its whole name: two callers may have chosen the same key. */
    purge: async (expiredBefore: number, limit: number) => {
      const { principal, method, path, key } = idempotencyKeys
      const due = await db
        .select({ principal, method, path, key })
        .from(idempotencyKeys)
        .where(lt(idempotencyKeys.expiresAt, expiredBefore))
        .limit(limit)
      for (const row of due) await remove().execute(row)
      return due.length
    },
  }
}
