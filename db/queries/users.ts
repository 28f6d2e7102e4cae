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
  inArray,
  lt,
} from 'drizzle-orm'
import { soughtPart } from '../../src/domain/entered-name.ts'
import { noPassword } from '../../src/domain/password.ts'
import {
  devices,
  identities,
  users,
  mails,
  passwordLinks,
  signInRequests,
  passkeys,
  recoveryCodes,
  totpKeys,
} from '../tables/sqlite.ts'
import { changeOne, finder, inserter, listFinder, lockingFinder, oldestKey } from './rows.ts'
import { type DrizzleConnection, only } from './connection.ts'
import { countAmong, listOrderOf, lookThrough, type SearchWindow, type TimeOrder } from './places.ts'
import { linkMails } from '../../src/domain/mail.ts'
import type { SecretHash } from '../../src/domain/secret.ts'

export type User = typeof users.$inferSelect

/** Whether the person can sign in in any way. Somebody who was invited cannot before they have set a password. */
const hasWayIn = (db: DrizzleConnection) =>
  or(
    ne(users.passwordHash, noPassword),
    isNotNull(users.externalId),
    exists(
      db
        .select({ userId: identities.userId })
        .from(identities)
        .where(and(eq(identities.userId, users.id), isNull(identities.endedAt))),
    ),
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

/** Whether a text contains a part, in the spelling of names, whatever the case of its letters. */
export const contains = (column: AnyColumn, part: string): SQL => isLike(column, sql`${patternOf(part)}`)

/**
 * The same with a pattern that is given when the statement runs. LIKE would know upper and lower case of ASCII letters alone, so the pattern
 * has both of each letter, as a set. PostgreSQL reads it as a regular expression (`dialect.ts`).
 */
export const isLike = (column: AnyColumn, pattern: SQL): SQL => sql`${column} GLOB ${pattern}`
export const patternOf = (part: string): string => `*${Array.from(soughtPart(part), setOf).join('')}*`

/** A character as both languages of patterns read it: with its other case, and without a meaning of its own. */
const setOf = (character: string): string => {
  if (character === '\\') return '[\\\\]' // an escape in one of them, and twice the same in the other
  if (character === '^') return '^' // no set begins with it: that would be all others
  const forms = 'σςΣ'.includes(character)
    ? ['σ', 'ς', 'Σ']
    : [character, character.toLowerCase(), character.toUpperCase()].filter((form) => Array.from(form).length === 1)
  return /[\p{L}\p{M}\p{N}]/u.test(character) && new Set(forms).size === 1
    ? character
    : `[${[...new Set(forms)].join('')}]`
}

/** The users among whom a search looks; an index has the operators. */
const scopeOf = ({ operators }: UserQuestion): SQL | undefined => (operators ? isOperator : undefined)

const isAsked = ({ part, status }: UserQuestion): SQL | undefined =>
  and(
    status === null ? undefined : eq(users.status, status),
    part === '' ? undefined : or(contains(users.email, part), contains(users.name, part), eq(users.externalId, part)),
  )

/** People. Their address is stored normalised and is unique. */
export const userQueries = (db: DrizzleConnection) => {
  return {
    insert: inserter(db, users),
    byId: lockingFinder(db, users, 'id'), // or a sign-in could miss that the password was changed, and its session would stay
    /** The user that the builder calls so. */
    byExternalId: lockingFinder(db, users, 'externalId'), // or a resource could come to a user who is erased
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
    byEmail: finder(db, users, 'email'),
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

type Device = typeof devices.$inferSelect

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

export type Identity = typeof identities.$inferSelect

const isOne = (issuer: string, subject: string) => and(eq(identities.issuer, issuer), eq(identities.subject, subject))

/** Accounts of people at identity providers. Those that have ended are found by `hasEnded` alone. */
export const identityQueries = (db: DrizzleConnection) => {
  const find = finder(db, identities, 'issuer', 'subject')
  const insert = inserter(db, identities)
  return {
    /** Links a person who is linked to nobody. That they were unlinked before is forgotten. */
    link: async (row: Omit<Identity, 'addressHolderId' | 'endedAt'>) => {
      await db.delete(identities).where(and(isOne(row.issuer, row.subject), isNotNull(identities.endedAt)))
      await insert({ ...row, addressHolderId: null, endedAt: null })
    },
    find: async (issuer: string, subject: string): Promise<Identity | null> => {
      const found = await find(issuer, subject)
      return found?.endedAt === null ? found : null
    },
    /** Whether the person was unlinked, and not linked again since. */
    hasEnded: async (issuer: string, subject: string): Promise<boolean> =>
      ((await find(issuer, subject))?.endedAt ?? null) !== null,
    ofUser: async (userId: string): Promise<Identity[]> =>
      await db
        .select()
        .from(identities)
        .where(and(eq(identities.userId, userId), isNull(identities.endedAt)))
        .orderBy(asc(identities.createdAt)),
    end: async (issuer: string, subject: string, now: number) =>
      void (await db
        .update(identities)
        .set({ endedAt: now, addressHolderId: null })
        .where(and(isOne(issuer, subject), isNull(identities.endedAt)))),
    /** Notes who has the address that the provider says this person has; null if nobody else has it. */
    noteHolder: async (issuer: string, subject: string, addressHolderId: string | null) =>
      void (await db.update(identities).set({ addressHolderId }).where(isOne(issuer, subject))),
    /** A user has given up their address: it is in nobody's way any more. */
    freeAddressOf: async (userId: string) =>
      void (await db.update(identities).set({ addressHolderId: null }).where(eq(identities.addressHolderId, userId))),
  }
}

export type PasswordLink = typeof passwordLinks.$inferSelect

/** Links with which a person sets a password. */
export const passwordLinkQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, passwordLinks),
  find: finder(db, passwordLinks, 'id'),
  oldestId: oldestKey(db, passwordLinks.id),
  /** Uses a link up, which leaves it no time. True for exactly one of any number of racing calls. */
  use: async (id: string, now: number) => {
    const used = { endedAt: now, expiresAt: now }
    return await changeOne(db, passwordLinks, used, eq(passwordLinks.id, id), isNull(passwordLinks.endedAt))
  },
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
})

export type SignInRequest = typeof signInRequests.$inferSelect

/** Requests to sign in that the builder has answered. */
export const signInRequestQueries = (db: DrizzleConnection) => ({
  find: finder(db, signInRequests, 'key'),
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
})

type TotpKey = typeof totpKeys.$inferSelect
export type Passkey = typeof passkeys.$inferSelect
export type RecoveryCode = typeof recoveryCodes.$inferSelect

const liveKey = (userId: string) => and(eq(totpKeys.userId, userId), isNull(totpKeys.endedAt))
const livePasskeys = (userId: string) => and(eq(passkeys.userId, userId), isNull(passkeys.endedAt))
const liveCodes = (userId: string) => and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.endedAt))

/** Authenticator apps, of which a user has at most one. */
export const totpKeyQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, totpKeys),
  /** The one that works; null without one. */
  ofUser: async (userId: string): Promise<TotpKey | null> =>
    only(await db.select().from(totpKeys).where(liveKey(userId))),
  /** Uses the code of a step up, with those of earlier steps. True for exactly one of any number of racing calls. */
  use: async (id: string, step: number, now: number) =>
    await changeOne(
      db,
      totpKeys,
      { lastStep: step, lastUsedAt: now },
      eq(totpKeys.id, id),
      isNull(totpKeys.endedAt),
      lt(totpKeys.lastStep, step),
    ),
  /** Ends the one that works, and forgets its key. False if there is none. */
  end: async (userId: string, now: number) =>
    await changeOne(db, totpKeys, { endedAt: now, key: new Uint8Array(0) }, liveKey(userId)),
})

/** Passkeys, of which a user can have several. */
export const passkeyQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, passkeys),
  /** Those that work, the oldest first. */
  ofUser: async (userId: string): Promise<Passkey[]> =>
    await db.select().from(passkeys).where(livePasskeys(userId)).orderBy(asc(passkeys.id)),
  /** How many of the user work. */
  countOfUser: async (userId: string) => await db.$count(passkeys, livePasskeys(userId)),
  /** The one that works; null without one. */
  byCredentialId: async (credentialId: string): Promise<Passkey | null> =>
    only(
      await db
        .select()
        .from(passkeys)
        .where(and(eq(passkeys.credentialId, credentialId), isNull(passkeys.endedAt))),
    ),
  /**
   * Uses the challenge of this time up, with all earlier ones. True for exactly one of any number of racing calls; false if the
   * authenticator has not counted upwards.
   */
  use: async (id: string, used: Pick<Passkey, 'counter' | 'challengeAt'>, now: number) =>
    await changeOne(
      db,
      passkeys,
      { ...used, lastUsedAt: now },
      eq(passkeys.id, id),
      isNull(passkeys.endedAt),
      lt(passkeys.challengeAt, used.challengeAt),
      or(lt(passkeys.counter, used.counter), sql`${passkeys.counter} = 0 and ${used.counter} = 0`),
    ),
  /** Ends one of the user. False if it does not work any more. */
  end: async (userId: string, id: string, now: number) =>
    await changeOne(
      db,
      passkeys,
      { endedAt: now },
      eq(passkeys.id, id),
      eq(passkeys.userId, userId),
      isNull(passkeys.endedAt),
    ),
  endAll: async (userId: string, now: number) =>
    void (await db.update(passkeys).set({ endedAt: now }).where(livePasskeys(userId))),
})

/** Recovery codes. */
export const recoveryCodeQueries = (db: DrizzleConnection) => ({
  insertAll: async (rows: readonly RecoveryCode[]) => void (await db.insert(recoveryCodes).values([...rows])),
  /** How many of the user work. */
  countOfUser: async (userId: string) => await db.$count(recoveryCodes, liveCodes(userId)),
  /** Uses a code up. True for exactly one of any number of racing calls. */
  use: async (userId: string, hash: SecretHash, now: number) =>
    await changeOne(db, recoveryCodes, { endedAt: now }, liveCodes(userId), eq(recoveryCodes.hash, hash)),
  /** Ends those that work. */
  endAll: async (userId: string, now: number) =>
    void (await db.update(recoveryCodes).set({ endedAt: now }).where(liveCodes(userId))),
})
