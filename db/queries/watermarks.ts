import { eq } from 'drizzle-orm'
import { watermarks } from '../tables/sqlite.ts'
import { type Connection, only } from './connection.ts'

type Name = (typeof watermarks.$inferSelect)['name']

/** Moments that the database remembers across restarts; `db/README.md` lists them. */
export const watermarkQueries = (db: Connection) => ({
  find: async (name: Name) => only(await db.select().from(watermarks).where(eq(watermarks.name, name)))?.at ?? null,
  set: async (name: Name, at: number) =>
    void (await db
      .insert(watermarks)
      .values({ name, at })
      .onConflictDoUpdate({ target: watermarks.name, set: { at } })),
})
