import { and, asc, desc, eq, inArray, lt, notInArray, sql } from 'drizzle-orm'
import { devices, users } from '../tables/sqlite.ts'
import { type Connection, only } from './connection.ts'

export type Device = typeof devices.$inferSelect

/** Browsers in which a user has signed in before. */
export const deviceQueries = (db: Connection) => ({
  /** The browser with the address of its user. */
  find: async (id: string) =>
    only(
      await db
        .select({ device: devices, email: users.email })
        .from(devices)
        .innerJoin(users, eq(users.id, devices.userId))
        .where(eq(devices.id, id)),
    ),
  /** Adds a browser; of the user's, the newest `most` stay. */
  insert: async (device: Device, most: number) => {
    await db.insert(devices).values(device)
    const own = eq(devices.userId, device.userId)
    const newest = db.select({ id: devices.id }).from(devices).where(own).orderBy(desc(devices.id)).limit(most)
    await db.delete(devices).where(and(own, notInArray(devices.id, newest)))
  },
  /** Counts a wrong password and gives how many that makes; null when the user has no such browser. */
  countFailure: async (id: string, userId: string) =>
    only(
      await db
        .update(devices)
        .set({ failures: sql`${devices.failures} + 1` })
        .where(and(eq(devices.id, id), eq(devices.userId, userId)))
        .returning({ failures: devices.failures }),
    )?.failures ?? null,
  end: async (id: string) => void (await db.delete(devices).where(eq(devices.id, id))),
  /** Removes up to `limit` browsers that became known before the key; gives how many. */
  purge: async (before: string, limit: number) => {
    const due = db.select({ id: devices.id }).from(devices).where(lt(devices.id, before)).orderBy(asc(devices.id))
    return (
      await db
        .delete(devices)
        .where(inArray(devices.id, due.limit(limit)))
        .returning({ id: devices.id })
    ).length
  },
})
