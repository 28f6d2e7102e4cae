import { and, asc, count, desc, eq, getTableColumns, gt, isNull, or, sql } from 'drizzle-orm'
import type { Environment } from '../../src/domain/app.ts'
import type { DisabledReason } from '../../src/domain/webhook-delivery.ts'
import { apps, webhookDeliveries, webhookEndpoints, webhookSecrets } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, given, givenLimit, lazily, only } from './connection.ts'
import { lazyReader } from './reader.ts'
import { rotatingSecrets } from './rotating-secrets.ts'

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect
export type WebhookSecret = typeof webhookSecrets.$inferSelect

/** Endpoints of apps, and the secrets that sign deliveries to them. */
export const webhookEndpointQueries = (db: DrizzleConnection) => {
  const secrets = rotatingSecrets(db, webhookSecrets)
  const due = lazyReader(db, () =>
    db
      .select({ id: webhookEndpoints.id })
      .from(webhookEndpoints)
      .innerJoin(apps, eq(apps.id, webhookEndpoints.appId))
      .where(
        and(
          eq(webhookEndpoints.status, sql`'enabled'`),
          isNull(apps.deletedAt),
          sql`EXISTS (SELECT 1 FROM ${webhookDeliveries} WHERE ${webhookDeliveries.endpointId} = ${webhookEndpoints.id}
            AND ${webhookDeliveries.nextAttemptAt} <= ${given('now')})`,
        ),
      ),
  )
  const countDue = lazily(() => {
    const due = db
      .select({ id: webhookEndpoints.id })
      .from(webhookEndpoints)
      .innerJoin(webhookDeliveries, eq(webhookDeliveries.endpointId, webhookEndpoints.id))
      .where(
        and(eq(webhookEndpoints.status, sql`'enabled'`), sql`${webhookDeliveries.nextAttemptAt} <= ${given('now')}`),
      )
      .limit(givenLimit('limit'))
      .as('due')
    return db.select({ count: count() }).from(due).prepare()
  })
  const countDisabled = lazily(() =>
    db
      .select({ reason: webhookEndpoints.reason, count: count() })
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.status, sql`'disabled'`))
      .groupBy(webhookEndpoints.reason)
      .prepare(),
  )
  const ofPlace = lazyReader(db, () =>
    db
      .select({ id: webhookEndpoints.id, kinds: webhookEndpoints.kinds })
      .from(webhookEndpoints)
      .where(and(eq(webhookEndpoints.appId, given('appId')), eq(webhookEndpoints.environment, given('environment')))),
  )

  const found = lazyReader(
    db,
    () =>
      db
        .select({ endpoint: getTableColumns(webhookEndpoints), slug: apps.slug })
        .from(webhookEndpoints)
        .innerJoin(apps, eq(apps.id, webhookEndpoints.appId))
        .where(and(eq(webhookEndpoints.id, given('id')), isNull(apps.deletedAt))),
    { locks: webhookEndpoints }, // or of two results at once each could overwrite since when it fails
  )

  return {
    insert: async (endpoint: WebhookEndpoint) => void (await db.insert(webhookEndpoints).values(endpoint)),
    /** The endpoint with its app; null if the app is deleted. */
    find: async (id: string) => await found().first({ id }),
    listOfApp: async (appId: string): Promise<WebhookEndpoint[]> =>
      await db
        .select()
        .from(webhookEndpoints)
        .where(eq(webhookEndpoints.appId, appId))
        .orderBy(asc(webhookEndpoints.environment), asc(webhookEndpoints.id)),
    /** The endpoints that may have chosen an event. Runs for each event that could be announced. */
    ofPlace: (appId: string, environment: Environment) => ofPlace().all({ appId, environment }),
    /** Every app that has an endpoint. */
    listeningApps: async (): Promise<readonly string[]> =>
      (await db.selectDistinct({ appId: webhookEndpoints.appId }).from(webhookEndpoints)).map(({ appId }) => appId),
    countOfPlace: async (appId: string, environment: Environment) =>
      await db.$count(
        webhookEndpoints,
        and(eq(webhookEndpoints.appId, appId), eq(webhookEndpoints.environment, environment)),
      ),
    /** The enabled endpoints for which something is due, of apps that are not deleted. Looks into an index once per enabled endpoint. */
    due: async (now: number): Promise<readonly string[]> => (await due().all({ now })).map(({ id }) => id),
    /** How many deliveries to enabled endpoints are due, up to `limit`. */
    countDue: async (now: number, limit: number): Promise<number> =>
      only(await countDue().execute({ now, limit }))?.count ?? 0,
    /** How many endpoints are disabled, for each reason. */
    countDisabled: async (): Promise<Record<DisabledReason, number>> => {
      const counts = { by_hand: 0, gone: 0, failing: 0 }
      for (const { reason, count: disabled } of await countDisabled().execute()) {
        if (reason !== null) counts[reason] = disabled
      }
      return counts
    },
    /** False if the endpoint does not exist or has this status already. */
    setStatus: async (id: string, change: Pick<WebhookEndpoint, 'status' | 'reason'>, now: number): Promise<boolean> =>
      await changeOne(
        db,
        webhookEndpoints,
        { ...change, failingSince: null, updatedAt: now },
        eq(webhookEndpoints.id, id),
        eq(webhookEndpoints.status, change.status === 'enabled' ? 'disabled' : 'enabled'),
      ),
    change: async (
      id: string,
      change: Pick<WebhookEndpoint, 'url' | 'kinds' | 'failingSince'>,
      now: number,
    ): Promise<void> =>
      void (await db
        .update(webhookEndpoints)
        .set({ ...change, updatedAt: now })
        .where(eq(webhookEndpoints.id, id))),
    setFailingSince: async (id: string, failingSince: number | null) =>
      void (await db.update(webhookEndpoints).set({ failingSince }).where(eq(webhookEndpoints.id, id))),
    /** Removes the endpoint and its secrets. Its deliveries are never sent. */
    remove: async (id: string): Promise<void> => {
      await db.delete(webhookSecrets).where(eq(webhookSecrets.endpointId, id))
      await db.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id))
    },
    insertSecret: secrets.insert,
    endSecretsAt: secrets.endAt,
    /** The secrets that are valid now, newest first. */
    liveSecrets: async (endpointId: string, now: number): Promise<WebhookSecret[]> =>
      await db
        .select()
        .from(webhookSecrets)
        .where(
          and(
            eq(webhookSecrets.endpointId, endpointId),
            or(isNull(webhookSecrets.expiresAt), gt(webhookSecrets.expiresAt, now)),
          ),
        )
        .orderBy(desc(webhookSecrets.id)),
  }
}
