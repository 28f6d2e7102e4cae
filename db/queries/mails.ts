import { and, asc, desc, eq, gt, gte, inArray, isNotNull, lte, or } from 'drizzle-orm'
import type { MailFault, MailKind, MailTopic } from '../../src/domain/mail.ts'
import { mails, mutedMails } from '../tables/sqlite.ts'
import { changeOne, finder, inserter } from './rows.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import { lazyReader } from './reader.ts'

export type Mail = typeof mails.$inferSelect

/** Every change of a mail after an attempt has this condition: the attempt must still be the last one. */
const isAfter = ({ id, attempts }: Attempted) =>
  [eq(mails.id, id), eq(mails.attempts, attempts), isNotNull(mails.nextAttemptAt)] as const

/** The outbox of mails. */
export const mailQueries = (db: DrizzleConnection) => {
  const nextDue = lazyReader(db, () =>
    db
      .select()
      .from(mails)
      .where(lte(mails.nextAttemptAt, given('now')))
      .orderBy(asc(mails.nextAttemptAt))
      .limit(givenLimit('limit')),
  )
  return {
    insert: inserter(db, mails),
    nextDue: (now: number) => nextDue().first({ now, limit: 1 }),
    /** Counts an attempt before it is made. True for one of any number of racing servers; the others leave the mail alone. */
    begin: async ({ id, attempts }: Attempted, userId: string | null, nextAttemptAt: number): Promise<boolean> =>
      await changeOne(db, mails, { attempts: attempts + 1, nextAttemptAt, userId }, ...isAfter({ id, attempts })),
    /** Those that are for a later time and were not tried become due sooner. */
    bringForward: async (ids: readonly string[], dueAt: number): Promise<void> => {
      const isUntried = and(inArray(mails.id, [...ids]), eq(mails.attempts, 0), gt(mails.nextAttemptAt, dueAt))
      if (ids.length > 0) await db.update(mails).set({ nextAttemptAt: dueAt }).where(isUntried)
    },
    /** The mail will not be sent again. */
    settle: async (mail: Attempted, state: 'sent' | 'failed' | 'dropped', fault: MailFault | null): Promise<boolean> =>
      await changeOne(db, mails, { state, fault, nextAttemptAt: null, address: null }, ...isAfter(mail)),
    noteFault: async (mail: Attempted, fault: MailFault, nextAttemptAt: number): Promise<boolean> =>
      await changeOne(db, mails, { fault, nextAttemptAt }, ...isAfter(mail)),
    /** The faults of the `limit` waiting mails with one whose next attempt is furthest away. */
    latestFaults: async (limit: number): Promise<MailFault[]> => {
      const rows = await db
        .select({ fault: mails.fault })
        .from(mails)
        .where(and(isNotNull(mails.nextAttemptAt), isNotNull(mails.fault)))
        .orderBy(desc(mails.nextAttemptAt))
        .limit(limit)
      return rows.flatMap(({ fault }) => (fault === null ? [] : [fault]))
    },
    /** Mails of this time and later that were given up. */
    countGivenUp: async (since: number): Promise<number> =>
      await db.$count(mails, and(eq(mails.state, 'failed'), gte(mails.createdAt, since))),
    find: finder(db, mails, 'id'),
    /** The latest mail to the user that was sent or given up. */
    latestTo: async (userId: string): Promise<Mail | null> =>
      (
        await db
          .select()
          .from(mails)
          .where(and(eq(mails.userId, userId), inArray(mails.state, ['sent', 'failed'])))
          .orderBy(desc(mails.id))
          .limit(1)
      )[0] ?? null,
    /** When the latest mail of this kind was written; null if the outbox remembers none. */
    latestOfKind: async (kind: MailKind): Promise<number | null> => {
      const latest = db.select({ createdAt: mails.createdAt }).from(mails).where(eq(mails.kind, kind))
      return (await latest.orderBy(desc(mails.id)).limit(1))[0]?.createdAt ?? null
    },
    /** Mails that are due or were tried before, and not those that are for a later time. */
    countWaiting: async (now: number, limit: number): Promise<number> => {
      const isWaiting = and(isNotNull(mails.nextAttemptAt), or(lte(mails.nextAttemptAt, now), gt(mails.attempts, 0)))
      return await db.$count(db.select({ id: mails.id }).from(mails).where(isWaiting).limit(limit).as('waiting'))
    },
  }
}

/** What people do not want to be told by mail. */
export const mutedMailQueries = (db: DrizzleConnection) => ({
  ofUser: async (userId: string): Promise<MailTopic[]> => {
    const rows = await db.select({ topic: mutedMails.topic }).from(mutedMails).where(eq(mutedMails.userId, userId))
    return rows.map(({ topic }) => topic)
  },
  replace: async (userId: string, topics: readonly MailTopic[]): Promise<void> => {
    await db.delete(mutedMails).where(eq(mutedMails.userId, userId))
    if (topics.length > 0) await db.insert(mutedMails).values(topics.map((topic) => ({ userId, topic })))
  },
})

/** A mail, and how often it has been tried. */
type Attempted = Pick<Mail, 'id' | 'attempts'>
