import { and, asc, count, eq } from 'drizzle-orm'
import { users } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily, only } from './connection.ts'

export type User = typeof users.$inferSelect

/** People; their address is stored normalised and is unique. */
export const userQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(users).values(everyColumn(users)).prepare())
  const byId = lazily(() =>
    db
      .select()
      .from(users)
      .where(eq(users.id, given('id')))
      .prepare(),
  )
  const byEmail = lazily(() =>
    db
      .select()
      .from(users)
      .where(eq(users.email, given('email')))
      .prepare(),
  )
  const total = lazily(() => db.select({ total: count() }).from(users).prepare())

  return {
    insert: async (user: User) => void (await insert().execute(user)),
    byId: async (id: string) => only(await byId().execute({ id })),
    /** `email` is normalised (lower case). */
    byEmail: async (email: string) => only(await byEmail().execute({ email })),
    /** Everyone, by address. */
    list: async (): Promise<User[]> => await db.select().from(users).orderBy(asc(users.email)),
    count: async () => (await total().execute())[0]?.total ?? 0,
    setStatus: async (id: string, status: User['status'], now: number) =>
      void (await db.update(users).set({ status, updatedAt: now }).where(eq(users.id, id))),
    /** Replaces the hash only while it is the one that was checked; false when the password has changed since. */
    replacePassword: async (id: string, oldHash: string, newHash: string, now: number) =>
      (
        await db
          .update(users)
          .set({ passwordHash: newHash, updatedAt: now })
          .where(and(eq(users.id, id), eq(users.passwordHash, oldHash)))
          .returning({ id: users.id })
      ).length === 1,
  }
}
