import {
  and,
  type AnyColumn,
  asc,
  desc,
  eq,
  exists,
  gt,
  gte,
  isNotNull,
  isNull,
  ne,
  notInArray,
  or,
  sql,
  type SQL,
} from 'drizzle-orm'
import { soughtPart } from '../../src/domain/entered-name.ts'
import { noPassword } from '../../src/domain/password.ts'
import { devices, identities, users } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given, only } from './connection.ts'
import { countAmong, listOrderOf, lookThrough, type SearchWindow, type TimeOrder } from './places.ts'
import { lazyReader } from './reader.ts'
import { finder, inserter, listFinder, lockingFinder } from './rows.ts'

export type User = typeof users.$inferSelect

/** Whether the person can sign in in any way. Somebody who was invited cannot before they have set a password. */
const hasWayIn = (db: DrizzleConnection) =>
  or(
    ne(users.passwordHash, noPassword),
    isNotNull(users.externalId),
    exists(db.select({ userId: identities.userId }).from(identities).where(eq(identities.userId, users.id))),
  )

/** Which users are asked for. Null matches everything; `part` is text in the name or address. */
export type UserQuestion = {
  readonly part: string
  readonly status: User['status'] | null
  readonly operators: boolean
}

/** The orders of the list of users. IDs are in the order in which they were made. */
export type UserOrder = 'email' | TimeOrder

/** A literal, as in the partial index `users_operators`, so that SQLite uses it. */
const isOperator = eq(users.isOperator, sql`1`)

/** Whether a text contains a part, in the spelling of names, ignoring the case of ASCII letters. The wildcards of LIKE count as plain characters. */
export const contains = (column: AnyColumn, part: string): SQL =>
  sql`lower(${column}) LIKE ${`%${lowerAscii(soughtPart(part)).replaceAll(/[\\%_]/g, '\\$&')}%`} ESCAPE '\\'`

/** The users among whom a search looks; an index has the operators. */
const scopeOf = ({ operators }: UserQuestion): SQL | undefined => (operators ? isOperator : undefined)

const isAsked = ({ part, status }: UserQuestion): SQL | undefined =>
  and(
    status === null ? undefined : eq(users.status, status),
    part === '' ? undefined : or(contains(users.email, part), contains(users.name, part), eq(users.externalId, part)),
  )

/** As `lower` of the database does, which leaves other letters as they are. */
const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** People. Their address is stored normalised and is unique. */
export const userQueries = (db: DrizzleConnection) => {
  const byId = lazyReader(
    db,
    () =>
      db
        .select()
        .from(users)
        .where(eq(users.id, given('id'))),
    { locks: users }, // or a sign-in could miss that the password was changed, and its session would stay
  )
  const byEmail = finder(db, users, 'email')
  const byExternalId = lockingFinder(db, users, 'externalId') // or a resource could come to a user who is erased
  return {
    insert: inserter(db, users),
    byId: (id: string) => byId().first({ id }),
    /** The user that the builder calls so. */
    byExternalId: (externalId: string) => byExternalId({ externalId }),
    /** What there is of these addresses, which are normalised, or external IDs, in no order. */
    byEmails: listFinder(db, users, 'email'),
    byExternalIds: listFinder(db, users, 'externalId'),
    /** Who was erased at this time, in epoch milliseconds, or later. */
    erasedSince: async (at: number): Promise<readonly string[]> => {
      const erased = and(isNotNull(users.erasedAt), gte(users.erasedAt, at))
      return (await db.select({ id: users.id }).from(users).where(erased)).map(({ id }) => id)
    },
    /** Users after the ID, oldest first; of one address and one status, if given. */
    listPage: async (
      { email, status }: { readonly email: string | null; readonly status: User['status'] | null },
      afterId: string,
      limit: number,
    ): Promise<User[]> =>
      await db
        .select()
        .from(users)
        .where(
          and(
            gt(users.id, afterId),
            email === null ? undefined : eq(users.email, email),
            status === null ? undefined : eq(users.status, status),
          ),
        )
        .orderBy(asc(users.id))
        .limit(limit),
    /** `email` is normalised (lower case). */
    byEmail: (email: string) => byEmail({ email }),
    /** Everyone, by address. */
    list: async (): Promise<User[]> => await db.select().from(users).orderBy(asc(users.email)),
    count: async () => await db.$count(users),
    /**
     * Users who match, among the next rows of the window. `searchedTo` is the position of the last one that was read, or null
     * at the end. So the cost of a search does not depend on the number of users.
     */
    search: async (question: UserQuestion, by: UserOrder, window: SearchWindow) => {
      const [column, listOrder] = by === 'email' ? [users.email, 'ascending' as const] : [users.id, listOrderOf(by)]
      const { isWithin, order, searchedTo } = await lookThrough(db, column, listOrder, window, scopeOf(question))
      const found: User[] = await db
        .select()
        .from(users)
        .where(and(isWithin, isAsked(question)))
        .orderBy(order)
        .limit(window.limit)
      return { found, searchedTo }
    },
    countFound: async (question: UserQuestion) => await countAmong(db, users, isAsked(question), scopeOf(question)),
    /** Up to `limit` operators who can sign in. */
    activeOperators: async (limit: number) =>
      await db
        .select({ id: users.id })
        .from(users)
        .where(and(isOperator, eq(users.status, 'active'), hasWayIn(db)))
        .limit(limit),
    change: async (
      id: string,
      to: Partial<Pick<User, 'name' | 'email' | 'pictureUrl' | 'isOperator' | 'status' | 'externalId'>>,
      now: number,
    ) =>
      void (await db
        .update(users)
        .set({ ...to, updatedAt: now })
        .where(eq(users.id, id))),
    /** Sets from when on a second factor is required, unless it is set. */
    askForFactor: async (id: string, dueAt: number) =>
      void (await changeOne(db, users, { factorDueAt: dueAt }, eq(users.id, id), isNull(users.factorDueAt))),
    /**
     * Ends everything that was begun to sign the user in. The row stays locked: whoever signs the user in waits, and sees it. So this
     * comes before any other change of theirs.
     */
    endSignIns: async (id: string, now: number) =>
      void (await db.update(users).set({ signInsEndedAt: now }).where(eq(users.id, id))),
    /** Ends the suspension of a user; false if they were not suspended. */
    confirm: async (id: string) =>
      await changeOne(db, users, { suspendedAt: null }, eq(users.id, id), isNotNull(users.suspendedAt)),
    /** Replaces the hash if it is still the one that was checked; false if the password has changed since. */
    replacePassword: async (id: string, oldHash: string, newHash: string, now: number) =>
      await changeOne(
        db,
        users,
        { passwordHash: newHash, updatedAt: now },
        eq(users.id, id),
        eq(users.passwordHash, oldHash),
      ),
  }
}

export type Device = typeof devices.$inferSelect

/** Browsers in which a user has signed in before. */
export const deviceQueries = (db: DrizzleConnection) => ({
  /** The browser with the address of its user. */
  find: async (id: string) =>
    only(
      await db
        .select({ device: devices, email: users.email })
        .from(devices)
        .innerJoin(users, eq(users.id, devices.userId))
        .where(eq(devices.id, id)),
    ),
  /** Adds a browser, and keeps only the newest `most` of the user. */
  insert: async (device: Device, most: number) => {
    await db.insert(devices).values(device)
    const own = eq(devices.userId, device.userId)
    const newest = db.select({ id: devices.id }).from(devices).where(own).orderBy(desc(devices.id)).limit(most)
    await db.delete(devices).where(and(own, notInArray(devices.id, newest)))
  },
  /** Counts a wrong password and returns the new count; null if the user has no such browser. */
  countFailure: async (id: string, userId: string) =>
    only(
      await db
        .update(devices)
        .set({ failures: sql`${devices.failures} + 1` })
        .where(and(eq(devices.id, id), eq(devices.userId, userId)))
        .returning({ failures: devices.failures }),
    )?.failures ?? null,
  end: async (id: string) => void (await db.delete(devices).where(eq(devices.id, id))),
})
