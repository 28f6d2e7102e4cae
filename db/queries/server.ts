import { and, desc, eq, exists, gt, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import {
  appTokens,
  grants,
  serverKeys,
  serverSettings,
  sessions,
  users,
  watermarks,
  formTickets,
  idempotencyKeys,
} from '../tables/sqlite.ts'
import { type DrizzleConnection, only, everyColumn, given } from './connection.ts'
import { lazyReader, lazyWriter } from './reader.ts'
import { finder, inserter } from './rows.ts'

type Name = (typeof watermarks.$inferSelect)['name']

/** Times that the database keeps across restarts. `db/README.md` lists them. */
export const watermarkQueries = (db: DrizzleConnection) => ({
  find: async (name: Name) => only(await db.select().from(watermarks).where(eq(watermarks.name, name)))?.at ?? null,
  /** The time of `clock` only ever rises. Servers with different clocks share it, so the clock of the database is its bound. */
  set: async (name: Name, at: number) =>
    void (await db
      .insert(watermarks)
      .values({ name, at: name === 'clock' && db.notAhead ? db.notAhead(at) : at })
      .onConflictDoUpdate({
        target: watermarks.name,
        set: { at: sql`excluded.at` },
        ...(name === 'clock' && { setWhere: lt(watermarks.at, sql`excluded.at`) }),
      })),
  /** Removes it, and gives what it was; null if there was none. Of racing calls one gets it. */
  take: async (name: Name) =>
    only(await db.delete(watermarks).where(eq(watermarks.name, name)).returning({ at: watermarks.at }))?.at ?? null,
  /** Sets it to another time if it is still this one, or still absent (null). Of racing calls one gets true. */
  advance: async (name: Name, from: number | null, at: number): Promise<boolean> => {
    const isUnchanged = from === null ? sql`false` : eq(watermarks.at, from)
    const set = db
      .insert(watermarks)
      .values({ name, at })
      .onConflictDoUpdate({ target: watermarks.name, set: { at }, setWhere: isUnchanged })
    return (await set.returning({ set: sql`1` })).length > 0
  },
})

type ServerKey = typeof serverKeys.$inferSelect

/** Random keys that never leave the server. */
export const serverKeyQueries = (db: DrizzleConnection) => ({
  find: finder(db, serverKeys, 'name'),
  /** Keeps the key unless one of this name exists. If several calls race, one key stays. */
  insertFirst: async (key: ServerKey) => void (await db.insert(serverKeys).values(key).onConflictDoNothing()),
})

/** The settings of the server that started last. */
export const serverSettingQueries = (db: DrizzleConnection) => ({
  all: async () => await db.select().from(serverSettings).orderBy(serverSettings.name),
  /** Keeps these and no others. */
  replace: async (settings: readonly (typeof serverSettings.$inferSelect)[]) => {
    await db.delete(serverSettings)
    if (settings.length > 0) await db.insert(serverSettings).values([...settings])
  },
})

/** How many of the newest rows are live. The count is exact if there are no older rows. */
type LiveCount = { readonly count: number; readonly exact: boolean }

/** Figures for operators. Each count reads a limited number of the newest rows, so its cost does not grow with the table. */
export const healthQueries = (db: DrizzleConnection) => {
  const countLive = async (key: SQLiteColumn, rows: number, isLive: SQL | undefined): Promise<LiveCount> => {
    const older = only(await db.select({ key }).from(key.table).orderBy(desc(key)).limit(1).offset(rows))
    const count = await db.$count(key.table, and(older === null ? undefined : gt(key, older.key), isLive))
    return { count, exact: older === null }
  }

  return {
    engineVersion: async () =>
      only(await db.select({ version: sql<string>`sqlite_version()` }).from(sql`(SELECT 1) AS one`))?.version ?? '',
    liveAppTokens: async (now: number, rows: number) => await countLive(appTokens.key, rows, isLiveAt(now, appTokens)),
    liveGrants: async (now: number, rows: number) => await countLive(grants.key, rows, isLiveAt(now, grants)),
    liveSessions: async (now: number, rows: number, usedAfter = 0) => {
      const isActive = and(eq(users.id, sessions.userId), eq(users.status, 'active'))
      const isLive = and(
        gt(sessions.expiresAt, now),
        gt(sql`coalesce(${sessions.lastUsedAt}, ${sessions.createdAt})`, usedAfter),
        isNull(sessions.endedAt),
        exists(db.select({ id: users.id }).from(users).where(isActive)),
      )
      return await countLive(sessions.key, rows, isLive)
    },
  }
}

const isLiveAt = (now: number, { expiresAt, revokedAt }: typeof appTokens | typeof grants) =>
  and(gt(expiresAt, now), isNull(revokedAt))

export type KeptOutcome = typeof idempotencyKeys.$inferSelect
export type IdempotencyScope = Pick<KeptOutcome, 'principal' | 'method' | 'path' | 'key'>

/** Outcomes of repeatable requests, by caller, method, path and key. */
export const idempotencyQueries = (db: DrizzleConnection) => {
  const scope = and(
    eq(idempotencyKeys.principal, given('principal')),
    eq(idempotencyKeys.method, given('method')),
    eq(idempotencyKeys.path, given('path')),
    eq(idempotencyKeys.key, given('key')),
  )
  const find = lazyReader(db, () => db.select().from(idempotencyKeys).where(scope))
  const remove = lazyWriter(db, () => db.delete(idempotencyKeys).where(scope))
  const insert = inserter(db, idempotencyKeys)

  return {
    find: (asked: IdempotencyScope) => find().first({ ...asked }),
    /** Keeps an outcome, instead of an expired one if any, in the transaction of the effect that it reports. */
    keep: async (kept: KeptOutcome) => {
      await remove().run({ ...kept })
      await insert(kept)
    },
  }
}

/** Forms of pages that have been submitted. */
export const formTicketQueries = (db: DrizzleConnection) => {
  const spend = lazyWriter(db, () => db.insert(formTickets).values(everyColumn(formTickets)).onConflictDoNothing())

  return {
    isSpent: async (key: string) => (await db.select().from(formTickets).where(eq(formTickets.key, key))).length > 0,
    /** Spends the ticket; true for exactly one of any number of racing calls. */
    spend: (key: string, now: number) => spend().hasChanged({ key, spentAt: now }),
  }
}
