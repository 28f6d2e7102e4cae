import { and, asc, eq } from 'drizzle-orm'
import { identities } from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'
import { finder, inserter } from './rows.ts'

export type Identity = typeof identities.$inferSelect

/** Accounts of people at identity providers. */
export const identityQueries = (db: DrizzleConnection) => {
  const find = finder(db, identities, 'issuer', 'subject')
  return {
    insert: inserter(db, identities),
    find: (issuer: string, subject: string) => find({ issuer, subject }),
    ofUser: async (userId: string): Promise<Identity[]> =>
      await db.select().from(identities).where(eq(identities.userId, userId)).orderBy(asc(identities.createdAt)),
    remove: async (issuer: string, subject: string) =>
      void (await db.delete(identities).where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))),
    /** Notes who has the address that the provider says this person has; null if nobody else has it. */
    noteHolder: async (issuer: string, subject: string, addressHolderId: string | null) =>
      void (await db
        .update(identities)
        .set({ addressHolderId })
        .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))),
    /** A user has given up their address: it is in nobody's way any more. */
    freeAddressOf: async (userId: string) =>
      void (await db.update(identities).set({ addressHolderId: null }).where(eq(identities.addressHolderId, userId))),
  }
}
