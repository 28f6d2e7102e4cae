import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  isNull,
  or,
  sql,
  between,
  gte,
  inArray,
  isNotNull,
  lt,
  lte,
  min,
  ne,
  notBetween,
  type SQL,
} from 'drizzle-orm'
import type { Environment } from '../../src/domain/app.ts'
import type { DisabledReason, AttemptOutcome } from '../../src/domain/webhook-delivery.ts'
import {
  apps,
  webhookDeliveries,
  webhookEndpoints,
  webhookSecrets,
  webhookAttempts,
  webhookEvents,
} from '../tables/sqlite.ts'
import { changeOne, finder, inserter } from './rows.ts'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection, given, givenLimit, only } from './connection.ts'
import { lazyReader } from './reader.ts'
import { rotatingSecrets } from './secrets.ts'
import { noAppId } from '../../src/domain/identifier.ts'
import { type BuilderEvent, type ToldEvent, webhookBody } from '../../src/domain/webhook-event.ts'
import { expiring } from './lists.ts'
import { beside, type Place } from './places.ts'

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect
export type WebhookSecret = typeof webhookSecrets.$inferSelect

/** Endpoints of apps, and the secrets that sign deliveries to them. */
export const webhookEndpointQueries = (db: DrizzleConnection) => {
  const secrets = rotatingSecrets(db, webhookSecrets)
  const due = lazyReader(db, () =>
    db
      .select({ id: webhookEndpoints.id })
      .from(webhookEndpoints)
      .leftJoin(apps, eq(apps.id, webhookEndpoints.appId)) // the builder's have none
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
        .leftJoin(apps, eq(apps.id, webhookEndpoints.appId))
        .where(and(eq(webhookEndpoints.id, given('id')), isNull(apps.deletedAt))),
    { locks: webhookEndpoints }, // or of two results at once each could overwrite since when it fails
  )

  return {
    insert: inserter(db, webhookEndpoints),
    /** The endpoint with the slug of its app (null: it is the builder's); null if the app is deleted. */
    find: async (id: string) => await found().first({ id }),
    listOfApp: async (appId: string): Promise<WebhookEndpoint[]> =>
      await db
        .select()
        .from(webhookEndpoints)
        .where(eq(webhookEndpoints.appId, appId))
        .orderBy(asc(webhookEndpoints.environment), asc(webhookEndpoints.id)),
    /** The builder's endpoints, oldest first. */
    ofBuilder: async (): Promise<WebhookEndpoint[]> =>
      await db.select().from(webhookEndpoints).where(isNull(webhookEndpoints.appId)).orderBy(asc(webhookEndpoints.id)),
    /** The endpoints that may have chosen an event. Runs for each event that could be announced. */
    ofPlace: (appId: string, environment: Environment) => ofPlace().all({ appId, environment }),
    /** Every app that has an endpoint. */
    listeningApps: async (): Promise<readonly string[]> =>
      (await db.selectDistinct({ appId: webhookEndpoints.appId }).from(webhookEndpoints)).flatMap(({ appId }) =>
        appId === null ? [] : [appId],
      ),
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
    change: async (id: string, change: Pick<WebhookEndpoint, 'url' | 'kinds' | 'failingSince'>, now: number) =>
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

export type WebhookEvent = typeof webhookEvents.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect

/** A ping is not a real event: it is sent once, and is neither counted nor sent again with the events. */
const isNoPing = ne(webhookEvents.kind, 'ping')
const isPing = sql<boolean>`${webhookEvents.kind} = 'ping'`

/** The outbox: events, and their deliveries to each endpoint. */
export const webhookEventQueries = (db: DrizzleConnection) => {
  const insertEvent = inserter(db, webhookEvents)
  const last = lazyReader(db, () =>
    db
      .select({ position: webhookEvents.position })
      .from(webhookEvents)
      .orderBy(desc(webhookEvents.position))
      .limit(givenLimit('limit')),
  )
  /** The deliveries that have been due longest. The cost does not depend on how many wait for a later time. */
  const longestDue = db
    .select({ position: webhookDeliveries.position })
    .from(webhookDeliveries)
    .where(
      and(eq(webhookDeliveries.endpointId, given('endpointId')), lte(webhookDeliveries.nextAttemptAt, given('now'))),
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.position))
    .limit(givenLimit('among'))
    .as('longest_due')
  const nextDue = lazyReader(db, () =>
    db
      .select({ event: webhookEvents, attempts: webhookDeliveries.attempts })
      .from(webhookDeliveries)
      .innerJoin(webhookEvents, eq(webhookEvents.position, webhookDeliveries.position))
      .where(
        and(
          eq(webhookDeliveries.endpointId, given('endpointId')),
          eq(webhookDeliveries.position, db.select({ oldest: min(longestDue.position) }).from(longestDue)),
        ),
      ),
  )

  const positions = async (endpointId: string, after: number, limit: number, condition: SQL) => {
    const found = await db
      .select({ position: webhookDeliveries.position })
      .from(webhookDeliveries)
      .innerJoin(webhookEvents, eq(webhookEvents.position, webhookDeliveries.position))
      .where(
        and(eq(webhookDeliveries.endpointId, endpointId), gt(webhookDeliveries.position, after), condition, isNoPing),
      )
      .orderBy(asc(webhookDeliveries.position))
      .limit(limit)
    return found.map(({ position }) => position)
  }

  return {
    /**
     * Writes an event and returns its position. For an app in an environment, one writer at a time takes positions, so they follow
     * the order of its commits. Those of the builder are written by one transaction after the other.
     */
    put: async (event: ToldEvent | BuilderEvent, at: number): Promise<number> => {
      const { id, kind } = event
      const { appId, environment } = { appId: event.appId ?? noAppId, environment: event.environment ?? 'production' }
      const position =
        db.takePosition === undefined
          ? ((await last().first({ limit: 1 }))?.position ?? 0) + 1
          : await db.takePosition(appId, environment)
      const body = webhookBody(event, at)
      await insertEvent({ position, id, appId, environment, kind, body, createdAt: at })
      return position
    },
    putDelivery: inserter(db, webhookDeliveries),
    /** The next event for an endpoint: the oldest of the hundred that have been due longest. */
    nextDue: (endpointId: string, now: number) => nextDue().first({ endpointId, now, among: 100 }),
    find: finder(db, webhookEvents, 'id'),
    findDelivery: finder(db, webhookDeliveries, 'position', 'endpointId'),
    /** Writes the outcome of an attempt; false if the delivery was changed meanwhile, or is gone. */
    moveDelivery: async (before: Omit<WebhookDelivery, 'nextAttemptAt'>, after: WebhookDelivery): Promise<boolean> =>
      await changeOne(
        db,
        webhookDeliveries,
        { state: after.state, attempts: after.attempts, nextAttemptAt: after.nextAttemptAt },
        eq(webhookDeliveries.position, before.position),
        eq(webhookDeliveries.endpointId, before.endpointId),
        eq(webhookDeliveries.state, before.state),
        eq(webhookDeliveries.attempts, before.attempts),
      ),
    /** How many deliveries to an endpoint are in each state, of events and of pings. */
    countsOf: async (endpointId: string) =>
      await db
        .select({ state: webhookDeliveries.state, isPing: isPing.mapWith(Boolean), count: count() })
        .from(webhookDeliveries)
        .innerJoin(webhookEvents, eq(webhookEvents.position, webhookDeliveries.position))
        .where(eq(webhookDeliveries.endpointId, endpointId))
        .groupBy(webhookDeliveries.state, isPing),
    /** Deliveries to an endpoint of events since an ID and after a position, in order. */
    positionsSince: async (endpointId: string, sinceId: string, after: number, limit: number) =>
      await positions(endpointId, after, limit, gte(webhookEvents.id, sinceId)),
    /** The same for failed deliveries. */
    failedPositions: async (endpointId: string, after: number, limit: number) =>
      await positions(endpointId, after, limit, eq(webhookDeliveries.state, 'failed')),
    /** Makes deliveries due at once, with all their attempts available again, and returns how many there were. */
    restart: async (endpointId: string, positions: readonly number[], now: number) =>
      (
        await db
          .update(webhookDeliveries)
          .set({ state: 'pending', attempts: 0, nextAttemptAt: now })
          .where(and(eq(webhookDeliveries.endpointId, endpointId), inArray(webhookDeliveries.position, [...positions])))
          .returning({ position: webhookDeliveries.position })
      ).length,
    /** Removes up to `limit` events that may go at this time, and their deliveries. Returns how many events. */
    purge: async (before: number, limit: number) => {
      const { by, at, keptMs } = expiring.webhook_events
      const old = db
        .select({ position: webhookEvents.position })
        .from(webhookEvents)
        .where(lt(by, at(before - keptMs)))
      const first = await old.orderBy(asc(by)).limit(limit)
      const positions = first.map(({ position }) => position)
      await db.delete(webhookDeliveries).where(inArray(webhookDeliveries.position, positions))
      await db.delete(webhookEvents).where(inArray(webhookEvents.position, positions))
      return positions.length
    },
  }
}

export type WebhookAttempt = typeof webhookAttempts.$inferSelect

/** What an attempt must match. Null matches everything. Of the times (epoch milliseconds) the later one is excluded. */
export type AttemptQuestion = {
  readonly outcome: AttemptOutcome | null
  readonly kind: string | null
  readonly since: number | null
  readonly until: number | null
}

const { status } = webhookAttempts
const hasOutcome: Readonly<Record<AttemptOutcome, SQL | undefined>> = {
  delivered: between(status, 200, 299),
  refused: and(isNotNull(status), notBetween(status, 200, 299)),
  unanswered: isNull(status),
}

/** Each call of an endpoint and its outcome. */
export const webhookAttemptQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, webhookAttempts),
  find: finder(db, webhookAttempts, 'endpointId', 'id'),
  /** The attempts at an endpoint beside the ID that match, newest first. Reads at most what is kept of the endpoint. */
  pageOfEndpoint: async (
    endpointId: string,
    { outcome, kind, since, until }: AttemptQuestion,
    place: Place,
    limit: number,
  ): Promise<WebhookAttempt[]> => {
    const { isBeside, order } = beside(webhookAttempts.id, 'descending', place)
    return await db
      .select()
      .from(webhookAttempts)
      .where(
        and(
          eq(webhookAttempts.endpointId, endpointId),
          isBeside,
          since === null ? undefined : gte(webhookAttempts.at, since),
          until === null ? undefined : lt(webhookAttempts.at, until),
          kind === null ? undefined : eq(webhookAttempts.kind, kind),
          outcome === null ? undefined : hasOutcome[outcome],
        ),
      )
      .orderBy(order)
      .limit(limit)
  },
})
