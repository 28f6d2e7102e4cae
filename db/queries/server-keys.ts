import { eq } from 'drizzle-orm'
import { serverKeys } from '../tables/sqlite.ts'
import { type Connection, only } from './connection.ts'

export type ServerKey = typeof serverKeys.$inferSelect

/** Random keys that never leave the server. */
export const serverKeyQueries = (db: Connection) => ({
  find: async (name: string) => only(await db.select().from(serverKeys).where(eq(serverKeys.name, name))),
  /** Keeps the key unless there is one of this name; of racing calls one key stays. */
  insertFirst: async (key: ServerKey) => void (await db.insert(serverKeys).values(key).onConflictDoNothing()),
})
