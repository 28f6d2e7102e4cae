import { and, asc, eq, getTableColumns, gt, isNull, or } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { apps, clients, credentials } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily, lookup, only } from './connection.ts'

export type Credential = typeof credentials.$inferSelect

const isUnended = (now: number) =>
  and(isNull(credentials.revokedAt), or(isNull(credentials.expiresAt), gt(credentials.expiresAt, now)))

export const credentialQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(credentials).values(everyColumn(credentials)).prepare())
  const clientColumn = <C extends SQLiteColumn>(column: C) =>
    lookup(db, clients, column, clients.id, credentials.clientId)
  const appColumn = <C extends SQLiteColumn>(column: C) => lookup(db, apps, column, apps.id, clientColumn(clients.appId))
  const find = lazily(() =>
    db
      .select({
        credential: getTableColumns(credentials),
        environment: clientColumn(clients.environment),
        app: { id: appColumn(apps.id), status: appColumn(apps.status), scopes: appColumn(apps.scopes) },
      })
      .from(credentials)
      .where(eq(credentials.id, given('id')))
      .prepare(),
  )
  const touch = lazily(() =>
    db
      .update(credentials)
      .set({ lastUsedAt: given('now') as unknown as number }) // `set` types its placeholders by value
      .where(eq(credentials.id, given('id')))
      .prepare(),
  )

  return {
    insert: async (credential: Credential) => void (await insert().execute(credential)),
    /** The credential with what decides whether it may be used, whatever state that is in; one read. */
    find: async (id: string) => only(await find().execute({ id })),
    touch: async (id: string, now: number) => void (await touch().execute({ id, now })),
    listByClient: async (clientId: string): Promise<Credential[]> =>
      await db.select().from(credentials).where(eq(credentials.clientId, clientId)).orderBy(asc(credentials.id)),
    /** The secrets of a client that still work, oldest first. */
    liveOfClient: async (clientId: string, now: number): Promise<Credential[]> =>
      await db
        .select()
        .from(credentials)
        .where(and(eq(credentials.clientId, clientId), isUnended(now)))
        .orderBy(asc(credentials.id)),
    setExpiry: async (id: string, expiresAt: number) =>
      void (await db.update(credentials).set({ expiresAt }).where(eq(credentials.id, id))),
    /** Ends the secret at once; false when it had already ended. */
    revoke: async (id: string, now: number) =>
      (
        await db
          .update(credentials)
          .set({ revokedAt: now })
          .where(and(eq(credentials.id, id), isUnended(now)))
          .returning({ id: credentials.id })
      ).length === 1,
  }
}
