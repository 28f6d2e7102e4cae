import { and, asc, count, eq, gt, isNull, lte, max, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { apps, clients, users, versions } from '../tables/sqlite.ts'
import { contains } from './contains.ts'
import { type Connection, everyColumn, given, lazily, only } from './connection.ts'
import type { SearchWindow } from './users.ts'

export type App = typeof apps.$inferSelect
export type Client = typeof clients.$inferSelect

/** Of an owner, without deleted ones. */
const isOwnedBy = (ownerId: string) => and(eq(apps.ownerId, ownerId), isNull(apps.deletedAt))

const live = alias(versions, 'live_version')
const head = alias(versions, 'head_version')

/** Apps and their clients, one client per environment. */
export const appQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(apps).values(everyColumn(apps)).prepare())
  const insertClient = lazily(() => db.insert(clients).values(everyColumn(clients)).prepare())
  const byId = lazily(() =>
    db
      .select()
      .from(apps)
      .where(eq(apps.id, given('id')))
      .prepare(),
  )
  const bySlug = lazily(() =>
    db
      .select()
      .from(apps)
      .where(eq(apps.slug, given('slug')))
      .prepare(),
  )
  const ownedBySlug = lazily(() =>
    db
      .select()
      .from(apps)
      .where(and(eq(apps.slug, given('slug')), eq(apps.ownerId, given('ownerId')), isNull(apps.deletedAt)))
      .prepare(),
  )
  const byClient = lazily(() =>
    db
      .select({ app: apps, client: clients })
      .from(clients)
      .innerJoin(apps, eq(apps.id, clients.appId))
      .where(eq(clients.id, given('clientId')))
      .prepare(),
  )
  const ofClient = lazily(() =>
    db
      .select({ appId: max(clients.appId) })
      .from(clients)
      .where(eq(clients.id, given('clientId')))
      .prepare(),
  )

  return {
    insert: async (app: App) => void (await insert().execute(app)),
    insertClient: async (client: Client) => void (await insertClient().execute(client)),
    byId: async (id: string) => only(await byId().execute({ id })),
    bySlug: async (slug: string) => only(await bySlug().execute({ slug })),
    /** The app of this slug, if it is this owner's and not deleted; to everybody else it does not exist. */
    ownedBySlug: async (ownerId: string, slug: string) => only(await ownedBySlug().execute({ ownerId, slug })),
    /** The app behind a client ID, with the client's environment. */
    byClient: async (clientId: string) => only(await byClient().execute({ clientId })),
    /** The ID of the app behind a client ID, or null. One row comes back either way, so that the time does not tell which. */
    idOfClient: async (clientId: string) => only(await ofClient().execute({ clientId }))?.appId ?? null,
    clientsOf: async (appId: string): Promise<Client[]> =>
      await db.select().from(clients).where(eq(clients.appId, appId)).orderBy(asc(clients.environment)),
    list: async (): Promise<App[]> => await db.select().from(apps).orderBy(asc(apps.slug)),
    /** Apps whose name or slug has this part, by slug, with their owners; the window and `searchedTo` as for users. */
    search: async (part: string, { after, rows, limit }: SearchWindow) => {
      const next = db.select().from(apps).where(gt(apps.slug, after)).orderBy(asc(apps.slug)).limit(rows).as('next')
      const last = db.select({ slug: apps.slug }).from(apps).where(gt(apps.slug, after)).orderBy(asc(apps.slug))
      const found = await db
        .select({
          slug: next.slug,
          name: next.name,
          status: next.status,
          deletedAt: next.deletedAt,
          ownerEmail: users.email,
        })
        .from(next)
        .innerJoin(users, eq(users.id, next.ownerId))
        .where(part === '' ? undefined : or(contains(next.slug, part), contains(next.name, part)))
        .orderBy(asc(next.slug))
        .limit(limit)
      return { found, searchedTo: only(await last.limit(1).offset(rows - 1))?.slug ?? null }
    },
    /** An owner's apps by slug, without deleted ones, with the live version and the development head by name. */
    ownedBy: async (ownerId: string) =>
      await db
        .select({ app: apps, live: live.version, developmentHead: head.version })
        .from(apps)
        .leftJoin(live, and(eq(live.appId, apps.id), eq(live.status, sql`'active'`)))
        .leftJoin(head, eq(head.id, apps.developmentVersionId))
        .where(isOwnedBy(ownerId))
        .orderBy(asc(apps.slug)),
    /** The rows alone of the same list. */
    listOwnedBy: async (ownerId: string): Promise<App[]> =>
      await db.select().from(apps).where(isOwnedBy(ownerId)).orderBy(asc(apps.slug)),
    /** Active apps that have a live version, after the slug, with who publishes each and what that version may do. */
    offered: async (afterSlug: string, limit: number) =>
      await db
        .select({ slug: apps.slug, name: apps.name, publisher: users.name, scopes: live.scopes, version: live.version })
        .from(apps)
        .innerJoin(live, and(eq(live.appId, apps.id), eq(live.status, sql`'active'`)))
        .innerJoin(users, eq(users.id, apps.ownerId))
        .where(and(eq(apps.status, sql`'active'`), gt(apps.slug, afterSlug)))
        .orderBy(asc(apps.slug))
        .limit(limit),
    countOwnedBy: async (ownerId: string) =>
      (await db.select({ count: count() }).from(apps).where(isOwnedBy(ownerId)))[0]?.count ?? 0,
    rename: async (id: string, name: string, now: number) =>
      void (await db.update(apps).set({ name, updatedAt: now }).where(eq(apps.id, id))),
    setScopes: async (id: string, scopes: string, now: number) =>
      void (await db.update(apps).set({ scopes, updatedAt: now }).where(eq(apps.id, id))),
    setStatus: async (id: string, status: App['status'], now: number) =>
      void (await db.update(apps).set({ status, updatedAt: now }).where(eq(apps.id, id))),
    setOwner: async (id: string, ownerId: string, now: number) =>
      void (await db.update(apps).set({ ownerId, updatedAt: now }).where(eq(apps.id, id))),
    /** Deletes the app, or takes that back (null). Either way it is suspended afterwards. */
    setDeleted: async (id: string, deletedAt: number | null, now: number) =>
      void (await db.update(apps).set({ status: 'suspended', deletedAt, updatedAt: now }).where(eq(apps.id, id))),
    /** The app that was deleted first, if that was at this time or before. */
    deletedBy: async (deletedAt: number) =>
      only(await db.select().from(apps).where(lte(apps.deletedAt, deletedAt)).orderBy(asc(apps.deletedAt)).limit(1)),
    /** Moves the development head. */
    setDevelopmentVersion: async (id: string, versionId: string, now: number) =>
      void (await db.update(apps).set({ developmentVersionId: versionId, updatedAt: now }).where(eq(apps.id, id))),
  }
}
