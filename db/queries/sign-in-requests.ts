import { eq, isNull } from 'drizzle-orm'
import { signInRequests } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import type { DrizzleConnection } from './connection.ts'
import { finder } from './rows.ts'

export type SignInRequest = typeof signInRequests.$inferSelect

/** Requests to sign in that the builder has answered. */
export const signInRequestQueries = (db: DrizzleConnection) => {
  const byKey = finder(db, signInRequests, 'key')
  return {
    find: (key: string) => byKey({ key }),
    /** Stores an answer, or replaces an earlier one that has not been used. False if it has been used. */
    answer: async (row: SignInRequest): Promise<boolean> => {
      const { key, ...facts } = row
      const inserted = await db
        .insert(signInRequests)
        .values(row)
        .onConflictDoNothing()
        .returning({ key: signInRequests.key })
      if (inserted.length === 1) return true
      return await changeOne(db, signInRequests, facts, eq(signInRequests.key, key), isNull(signInRequests.completedAt))
    },
    /** Uses this answer up, unless another has replaced it. True for exactly one of any number of racing calls. */
    complete: async ({ key, verifierHash }: Pick<SignInRequest, 'key' | 'verifierHash'>, now: number) =>
      await changeOne(
        db,
        signInRequests,
        { completedAt: now },
        eq(signInRequests.key, key),
        eq(signInRequests.verifierHash, verifierHash),
        isNull(signInRequests.completedAt),
      ),
  }
}
