import { and, eq, inArray, lt } from 'drizzle-orm'
import { idempotencyKeys } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily, only } from './connection.ts'

export type KeptOutcome = typeof idempotencyKeys.$inferSelect
export type IdempotencyScope = Pick<KeptOutcome, 'principal' | 'method' | 'path' | 'key'>

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
    purge: async (expiredBefore: number, limit: number) => {
      const due = await db
        .select({ key: idempotencyKeys.key, principal: idempotencyKeys.principal })
        .from(idempotencyKeys)
        .where(lt(idempotencyKeys.expiresAt, expiredBefore))
        .limit(limit)
      const keys = due.map((row) => row.key)
      if (keys.length > 0) {
        await db
          .delete(idempotencyKeys)
          .where(and(inArray(idempotencyKeys.key, keys), lt(idempotencyKeys.expiresAt, expiredBefore)))
      }
      return keys.length
    },
  }
}
