import { serviceKeys } from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'
import { beside, type Place } from './places.ts'
import { presentedSecrets } from './rotating-secrets.ts'
import { finder } from './rows.ts'

export type ServiceKey = typeof serviceKeys.$inferSelect

/** Keys of the builder, which are never deleted. */
export const serviceKeyQueries = (db: DrizzleConnection) => {
  const byId = finder(db, serviceKeys, 'id')
  return {
    ...presentedSecrets(db, serviceKeys),
    find: (id: string) => byId({ id }),
    /** Keys beside the ID, newest first. */
    list: async (place: Place, limit: number): Promise<ServiceKey[]> => {
      const { isBeside, order } = beside(serviceKeys.id, 'descending', place)
      return await db.select().from(serviceKeys).where(isBeside).orderBy(order).limit(limit)
    },
    count: async (): Promise<number> => await db.$count(serviceKeys),
  }
}
