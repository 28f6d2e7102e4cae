import { and, asc, count, eq } from 'drizzle-orm'
import { clients, redirectUris } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily } from './connection.ts'
import { reader, writer } from './reader.ts'

type RedirectUri = typeof redirectUris.$inferSelect

/** Registered redirect URIs. Each belongs to one client. */
export const redirectUriQueries = (db: Connection) => {
  const insert = lazily(() => writer(db.insert(redirectUris).values(everyColumn(redirectUris))))
  const find = lazily(() =>
    reader(
      db
        .select()
        .from(redirectUris)
        .where(eq(redirectUris.uri, given('uri'))),
    ),
  )

  return {
    insert: (redirectUri: RedirectUri) => insert().run(redirectUri),
    /** Compared byte for byte. */
    find: (uri: string) => find().first({ uri }),
    countOfClient: async (clientId: string) =>
      (await db.select({ count: count() }).from(redirectUris).where(eq(redirectUris.clientId, clientId)))[0]?.count ??
      0,
    remove: async (uri: string, clientId: string) =>
      (
        await db
          .delete(redirectUris)
          .where(and(eq(redirectUris.uri, uri), eq(redirectUris.clientId, clientId)))
          .returning({ uri: redirectUris.uri })
      ).length === 1,
    listByApp: async (appId: string) =>
      await db
        .select({ uri: redirectUris.uri, environment: clients.environment })
        .from(redirectUris)
        .innerJoin(clients, eq(clients.id, redirectUris.clientId))
        .where(eq(clients.appId, appId))
        .orderBy(asc(redirectUris.uri)),
  }
}
