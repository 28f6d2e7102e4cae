import { and, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { linkMails } from '../../src/domain/mail.ts'
import { mails, passwordLinks } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import type { DrizzleConnection } from './connection.ts'
import { oldestKey } from './keys.ts'
import { finder, inserter } from './rows.ts'

export type PasswordLink = typeof passwordLinks.$inferSelect

/** Links with which a person sets a password. */
export const passwordLinkQueries = (db: DrizzleConnection) => {
  const byId = finder(db, passwordLinks, 'id')
  return {
    insert: inserter(db, passwordLinks),
    find: (id: string) => byId({ id }),
    oldestId: oldestKey(db, passwordLinks.id),
    /** Uses a link up. True for exactly one of any number of racing calls. */
    use: async (id: string, now: number) =>
      await changeOne(db, passwordLinks, { endedAt: now }, eq(passwordLinks.id, id), isNull(passwordLinks.endedAt)),
    /** Ends those of a user that work, and drops the mails that would bring one. */
    endAll: async (userId: string, now: number): Promise<void> => {
      await db
        .update(passwordLinks)
        .set({ endedAt: now })
        .where(and(eq(passwordLinks.userId, userId), isNull(passwordLinks.endedAt)))
      await db
        .update(mails)
        .set({ state: 'dropped', nextAttemptAt: null, address: null })
        .where(and(eq(mails.userId, userId), isNotNull(mails.nextAttemptAt), inArray(mails.kind, [...linkMails])))
    },
  }
}
