import { eq } from 'drizzle-orm'
import { serverKeys, watermarks } from '../tables/sqlite.ts'
import { type DrizzleConnection, only } from './connection.ts'

type Name = (typeof watermarks.$inferSelect)['name']

/** Times that the database keeps across restarts. `db/README.md` lists them. */
export const watermarkQueries = (db: DrizzleConnection) => ({
  find: async (name: Name) => only(await db.select().from(watermarks).where(eq(watermarks.name, name)))?.at ?? null,
  set: async (name: Name, at: number) =>
    void (await db
      .insert(watermarks)
      .values({ name, at })
      .onConflictDoUpdate({ target: watermarks.name, set: { at } })),
})

export type ServerKey = typeof serverKeys.$inferSelect

/** Random keys that never leave the server. */
export const serverKeyQueries = (db: DrizzleConnection) => ({
  find: async (name: string) => only(await db.select().from(serverKeys).where(eq(serverKeys.name, name))),
  /** Keeps the key unless one of this name exists. If several calls race, one key stays. */
  insertFirst: async (key: ServerKey) => void (await db.insert(serverKeys).values(key).onConflictDoNothing()),
})
