import { eq, isNotNull, isNull } from 'drizzle-orm'
import { serviceKeys } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import type { DrizzleConnection } from './connection.ts'
import { oldestKey } from './keys.ts'
import { beside, type Place } from './places.ts'
import { finder, inserter } from './rows.ts'

export type ServiceKey = typeof serviceKeys.$inferSelect

/** Keys of the builder, which are never deleted. */
export const serviceKeyQueries = (db: DrizzleConnection) => {
  const byId = finder(db, serviceKeys, 'id')
  return {
    insert: inserter(db, serviceKeys),
    find: (id: string) => byId({ id }),
    /** The ID of the oldest key, or null. */
    oldestId: oldestKey(db, serviceKeys.id),
    /** Keys beside the ID, newest first. */
    list: async (place: Place, limit: number): Promise<ServiceKey[]> => {
      const { isBeside, order } = beside(serviceKeys.id, 'descending', place)
      return await db.select().from(serviceKeys).where(isBeside).orderBy(order).limit(limit)
    },
    count: async (): Promise<number> => await db.$count(serviceKeys),
    touch: async (id: string, now: number) =>
      void (await db.update(serviceKeys).set({ lastUsedAt: now }).where(eq(serviceKeys.id, id))),
    /** Sets the end of a key unless it is revoked; false if it is. */
    setExpiry: async (id: string, expiresAt: number) =>
      await changeOne(db, serviceKeys, { expiresAt }, eq(serviceKeys.id, id), isNull(serviceKeys.revokedAt)),
    /** False if it was revoked before. */
    revoke: async (id: string, now: number) =>
      await changeOne(db, serviceKeys, { revokedAt: now }, eq(serviceKeys.id, id), isNull(serviceKeys.revokedAt)),
    /** Ends the suspension of a key; false if it was not suspended. */
    confirm: async (id: string) =>
      await changeOne(
        db,
        serviceKeys,
        { suspendedAt: null },
        eq(serviceKeys.id, id),
        isNotNull(serviceKeys.suspendedAt),
      ),
  }
}
