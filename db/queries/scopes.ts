import { and, asc, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import {
  apps,
  appTokens,
  clients,
  credentials,
  grants,
  installs,
  scopes,
  tokenPairs,
  versions,
} from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'
import { noRetry } from './grants.ts'
import { beside, type Place } from './places.ts'
import { lazyReader } from './reader.ts'
import { changeOne, inserter, lockingFinder } from './rows.ts'

export type OwnScopeRow = typeof scopes.$inferSelect

/** Whether a stored list of scopes has this one. No name has a character that means something here. */
const has = (list: SQLiteColumn, name: string): SQL => sql`' ' || ${list} || ' ' like ${`% ${name} %`}`
/** The list without it. */
const without = (list: SQLiteColumn, name: string): SQL =>
  sql`trim(replace(' ' || ${list} || ' ', ${` ${name} `}, ' '))`

/** Whether an app has it, could get it, or once had it. */
const couldHave = (name: string) => or(has(apps.heldScopes, name), has(apps.givenScopes, name))

/** The operator's own scopes, and what takes one away from apps and from what was issued to them. */
export const scopeQueries = (db: DrizzleConnection) => {
  const isLive = isNull(scopes.retiredAt)
  const live = lazyReader(db, () => db.select().from(scopes).where(isLive).orderBy(asc(scopes.name))) // nearly every page asks for them
  const clientsOf = (appIds: readonly string[]) =>
    db
      .select({ id: clients.id })
      .from(clients)
      .where(inArray(clients.appId, [...appIds]))
  const openGrantsOf = (appIds: readonly string[]) =>
    and(inArray(grants.clientId, clientsOf(appIds)), isNull(grants.revokedAt))

  return {
    insert: inserter(db, scopes),
    /** The scope, also a retired one. Until the transaction ends, nobody retires it. */
    find: lockingFinder(db, scopes, 'name'),
    /** Those that are not retired, by name. */
    live: () => live().all({}),
    /** Scopes beside the name, by name, also retired ones. */
    list: async (place: Place, limit: number): Promise<OwnScopeRow[]> => {
      const { isBeside, order } = beside(scopes.name, 'ascending', place)
      return await db.select().from(scopes).where(isBeside).orderBy(order).limit(limit)
    },
    countLive: async (): Promise<number> => await db.$count(scopes, isLive),
    count: async (): Promise<number> => await db.$count(scopes),
    /** False if it was retired before. */
    retire: async (name: string, now: number) =>
      await changeOne(db, scopes, { retiredAt: now }, eq(scopes.name, name), isLive),
    /** Apps that have it, could get it, or once had it, by slug. */
    appsWith: async (name: string) =>
      await db.select(getTableColumns(apps)).from(apps).where(couldHave(name)).orderBy(asc(apps.slug)),
    /** How many open grants of these apps have it, and how many of those have no other. */
    countGrants: async (name: string, appIds: readonly string[]) => {
      const open = openGrantsOf(appIds)
      return {
        grants: await db.$count(grants, and(open, has(grants.scopes, name))),
        endedGrants: await db.$count(grants, and(open, eq(grants.scopes, name))),
      }
    },
    /** Takes the scope from the app with this ID, or from every app (null), and gives those that had it or could get it, as they were. */
    takeFromApps: async (name: string, appId: string | null, now: number) => {
      const isMeant = and(appId === null ? undefined : eq(apps.id, appId), couldHave(name))
      const found = await db.select(getTableColumns(apps)).from(apps).where(isMeant).orderBy(asc(apps.id))
      await db
        .update(apps)
        .set({
          scopes: without(apps.scopes, name),
          tokenScopes: without(apps.tokenScopes, name),
          givenScopes: without(apps.givenScopes, name),
          lostScopes: sql`trim(coalesce(${without(apps.lostScopes, name)}, '') || ${` ${name}`})`,
          updatedAt: now,
        })
        .where(isMeant)
        .returning({ id: apps.id })
      return found
    },
    /** Takes the scope out of the versions and installs of these apps; returns how many installs had it. */
    takeFromInstalls: async (name: string, appIds: readonly string[], now: number): Promise<number> => {
      await db
        .update(versions)
        .set({ scopes: without(versions.scopes, name) })
        .where(and(inArray(versions.appId, [...appIds]), has(versions.scopes, name)))
        .returning({ id: versions.id })
      const changed = await db
        .update(installs)
        .set({ scopes: without(installs.scopes, name), updatedAt: now })
        .where(and(inArray(installs.appId, [...appIds]), has(installs.scopes, name)))
        .returning({ id: installs.id })
      return changed.length
    },
    /** Takes the scope out of the grants of these apps. Those that had no other are revoked, and returned. */
    takeFromGrants: async (name: string, appIds: readonly string[], now: number) => {
      const open = openGrantsOf(appIds)
      const ended = await db
        .update(grants)
        .set({ revokedAt: now, ...noRetry })
        .where(and(open, eq(grants.scopes, name)))
        .returning({ id: grants.id, appId: grants.appId, clientId: grants.clientId, userId: grants.userId })
      const changed = await db
        .update(grants)
        .set({ scopes: without(grants.scopes, name) })
        .where(and(open, has(grants.scopes, name)))
        .returning({ id: grants.id })
      return { ended, changed: changed.length }
    },
    /** Takes the scope out of the live tokens of an app themselves, so that the app can get it again without them. */
    takeFromTokens: async (name: string, appId: string): Promise<void> => {
      const secrets = db
        .select({ id: credentials.id })
        .from(credentials)
        .where(inArray(credentials.clientId, clientsOf([appId])))
      await db
        .update(appTokens)
        .set({ scopes: without(appTokens.scopes, name) })
        .where(and(inArray(appTokens.credentialId, secrets), has(appTokens.scopes, name)))
        .returning({ key: appTokens.key })
      const current = db
        .select({ key: grants.currentKey })
        .from(grants)
        .where(openGrantsOf([appId]))
      await db
        .update(tokenPairs)
        .set({ scopes: without(tokenPairs.scopes, name) })
        .where(and(inArray(tokenPairs.key, current), has(tokenPairs.scopes, name)))
        .returning({ key: tokenPairs.key })
    },
  }
}
