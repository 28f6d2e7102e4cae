import { and, eq, inArray } from 'drizzle-orm'
import {
  apps,
  carriedEnds,
  clients,
  credentials,
  grants,
  installs,
  redirectUris,
  rollbacks,
  versions,
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
  webhookEvents,
  webhookSecrets,
} from '../tables/sqlite.ts'
import type { App } from './apps.ts'
import type { Connection } from './connection.ts'

/** Versions removed at once: each has up to half a megabyte of text. */
const versionsAtOnce = 10

/** What belongs to an app that was deleted, to remove it in small parts. */
export const deletedAppQueries = (db: Connection) => {
  const clientsOf = (appId: string) => db.select({ id: clients.id }).from(clients).where(eq(clients.appId, appId))
  const endpointsOf = (appId: string) =>
    db.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(eq(webhookEndpoints.appId, appId))

  /** Deliveries go with their event, which has one for each endpoint of the app. */
  const removeEvents = async (appId: string, limit: number) => {
    const due = await db
      .select({ position: webhookDeliveries.position })
      .from(webhookDeliveries)
      .where(inArray(webhookDeliveries.endpointId, endpointsOf(appId)))
      .limit(limit)
    const positions = due.map(({ position }) => position)
    await db
      .delete(webhookEvents)
      .where(and(inArray(webhookEvents.position, positions), eq(webhookEvents.appId, appId)))
    await db.delete(webhookDeliveries).where(inArray(webhookDeliveries.position, positions))
    return due
  }

  const { id: attempt } = webhookAttempts
  const { id: secret } = webhookSecrets
  /** Each removes up to `limit` rows of one table; what others refer to comes after those. */
  const steps = [
    async (appId: string, limit: number) => {
      const due = db.select({ id: attempt }).from(webhookAttempts)
      const some = due.where(inArray(webhookAttempts.endpointId, endpointsOf(appId))).limit(limit)
      return await db.delete(webhookAttempts).where(inArray(attempt, some)).returning({ id: attempt })
    },
    removeEvents,
    async (appId: string, limit: number) => {
      const due = db.select({ id: secret }).from(webhookSecrets)
      const some = due.where(inArray(webhookSecrets.endpointId, endpointsOf(appId))).limit(limit)
      return await db.delete(webhookSecrets).where(inArray(secret, some)).returning({ id: secret })
    },
    async (appId: string, limit: number) =>
      await db
        .delete(webhookEndpoints)
        .where(inArray(webhookEndpoints.id, endpointsOf(appId).limit(limit)))
        .returning({ id: webhookEndpoints.id }),
    async (appId: string, limit: number) => {
      const some = db.select({ id: installs.id }).from(installs).where(eq(installs.appId, appId)).limit(limit)
      return await db.delete(installs).where(inArray(installs.id, some)).returning({ id: installs.id })
    },
    async (appId: string, limit: number) => {
      const some = db.select({ id: rollbacks.id }).from(rollbacks).where(eq(rollbacks.appId, appId)).limit(limit)
      return await db.delete(rollbacks).where(inArray(rollbacks.id, some)).returning({ id: rollbacks.id })
    },
    async (appId: string) => {
      await db.update(apps).set({ developmentVersionId: null }).where(eq(apps.id, appId))
      const own = db.select({ id: versions.id }).from(versions).where(eq(versions.appId, appId))
      return await db
        .delete(versions)
        .where(inArray(versions.id, own.limit(versionsAtOnce)))
        .returning({ id: versions.id })
    },
    async (appId: string, limit: number) => {
      const own = inArray(redirectUris.clientId, clientsOf(appId))
      const some = db.select({ uri: redirectUris.uri }).from(redirectUris).where(own).limit(limit)
      return await db.delete(redirectUris).where(inArray(redirectUris.uri, some)).returning({ uri: redirectUris.uri })
    },
    async (appId: string, limit: number) => {
      const own = inArray(credentials.clientId, clientsOf(appId))
      const some = db.select({ id: credentials.id }).from(credentials).where(own).limit(limit)
      return await db.delete(credentials).where(inArray(credentials.id, some)).returning({ id: credentials.id })
    },
  ]

  return {
    /** Grants of the app, in no order. */
    grantsOf: async (appId: string, limit: number) =>
      await db
        .select({ id: grants.id })
        .from(grants)
        .where(inArray(grants.clientId, clientsOf(appId)))
        .limit(limit),
    /** Removes up to `limit` rows of the first table that has any, apart from grants; gives how many. */
    removeSome: async (appId: string, limit: number): Promise<number> => {
      for (const step of steps) {
        const { length } = await step(appId, limit)
        if (length > 0) return length
      }
      return 0
    },
    /** Removes the app and its clients. It stays known as deleted, should a backup that still has it be restored. */
    remove: async ({ id, deletedAt }: App): Promise<void> => {
      const at = deletedAt ?? 0
      await db.delete(clients).where(eq(clients.appId, id))
      await db.delete(apps).where(eq(apps.id, id))
      await db.insert(carriedEnds).values({ kind: 'app_deleted', target: id, at, value: null }).onConflictDoNothing()
    },
  }
}
