import { and, asc, count, eq, gt, isNotNull, or, sql } from 'drizzle-orm'
import { users } from '../tables/sqlite.ts'
import { contains } from './contains.ts'
import { type Connection, everyColumn, given, lazily, only } from './connection.ts'

export type User = typeof users.$inferSelect

/** A look through a list in its order: from where, how many rows at most, and how many finds at most. */
export type SearchWindow = { readonly after: string; readonly rows: number; readonly limit: number }

/** Written out, as the partial index `users_operators` is. */
const isOperator = eq(users.isOperator, sql`1`)

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
    /**
     * Users whose name or address has this part, by address, among the next rows of the window. `searchedTo` is the last
     * address that was looked at, or null when that was all; so a search takes no longer however many users there are.
     */
    search: async (part: string, { after, rows, limit }: SearchWindow) => {
      const next = db
        .select()
        .from(users)
        .where(gt(users.email, after))
        .orderBy(asc(users.email))
        .limit(rows)
        .as('next')
      const last = db.select({ email: users.email }).from(users).where(gt(users.email, after)).orderBy(asc(users.email))
      const found: User[] = await db
        .select()
        .from(next)
        .where(part === '' ? undefined : or(contains(next.email, part), contains(next.name, part)))
        .orderBy(asc(next.email))
        .limit(limit)
      return { found, searchedTo: only(await last.limit(1).offset(rows - 1))?.email ?? null }
    },
    /** Up to `limit` operators who can sign in. */
    activeOperators: async (limit: number) =>
      await db
        .select({ id: users.id })
        .from(users)
        .where(and(isOperator, eq(users.status, 'active')))
        .limit(limit),
    rename: async (id: string, name: string, now: number) =>
      void (await db.update(users).set({ name, updatedAt: now }).where(eq(users.id, id))),
    setEmail: async (id: string, email: string, now: number) =>
      void (await db.update(users).set({ email, updatedAt: now }).where(eq(users.id, id))),
    setOperator: async (id: string, isOperator: boolean, now: number) =>
      void (await db.update(users).set({ isOperator, updatedAt: now }).where(eq(users.id, id))),
    setStatus: async (id: string, status: User['status'], now: number) =>
      void (await db.update(users).set({ status, updatedAt: now }).where(eq(users.id, id))),
    /** Ends the suspension of a password; false when it was not suspended. */
    confirmPassword: async (id: string) =>
      (
        await db
          .update(users)
          .set({ passwordSuspendedAt: null })
          .where(and(eq(users.id, id), isNotNull(users.passwordSuspendedAt)))
          .returning({ id: users.id })
      ).length === 1,
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
