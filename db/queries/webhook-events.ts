import { and, asc, count, eq, gt, gte, inArray, lt, lte, max, min, ne } from 'drizzle-orm'
import { type ToldEvent, webhookBody } from '../../src/domain/webhook-event.ts'
import { webhookDeliveries, webhookEvents } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, givenLimit, lazily, only } from './connection.ts'

export type WebhookEvent = typeof webhookEvents.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect

/** A ping tells of nothing that happened: it is sent once and never counted among the events, nor sent again with them. */
const isNoPing = ne(webhookEvents.kind, 'ping')

/** The outbox: events, and their deliveries to each endpoint. */
export const webhookEventQueries = (db: Connection) => {
  const insertEvent = lazily(() => db.insert(webhookEvents).values(everyColumn(webhookEvents)).prepare())
  const insertDelivery = lazily(() => db.insert(webhookDeliveries).values(everyColumn(webhookDeliveries)).prepare())
  const last = lazily(() =>
    db
      .select({ position: max(webhookEvents.position) })
      .from(webhookEvents)
      .prepare(),
  )
  /** Those that have been due longest; how many others wait for later makes no difference. */
  const longestDue = db
    .select({ position: webhookDeliveries.position })
    .from(webhookDeliveries)
    .where(
      and(eq(webhookDeliveries.endpointId, given('endpointId')), lte(webhookDeliveries.nextAttemptAt, given('now'))),
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.position))
    .limit(givenLimit('among'))
    .as('longest_due')
  const nextDue = lazily(() =>
    db
      .select({ event: webhookEvents, attempts: webhookDeliveries.attempts })
      .from(webhookDeliveries)
      .innerJoin(webhookEvents, eq(webhookEvents.position, webhookDeliveries.position))
      .where(
        and(
          eq(webhookDeliveries.endpointId, given('endpointId')),
          eq(webhookDeliveries.position, db.select({ oldest: min(longestDue.position) }).from(longestDue)),
        ),
      )
      .prepare(),
  )

  return {
    /** Writes an event and gives its position. Writers take turns, so that the next position is the next commit. */
    put: async (event: ToldEvent, at: number): Promise<number> => {
      const position = (only(await last().execute())?.position ?? 0) + 1
      const { id, appId, environment, kind } = event
      const body = webhookBody(event, at)
      await insertEvent().execute({ position, id, appId, environment, kind, body, createdAt: at })
      return position
    },
    putDelivery: async (delivery: WebhookDelivery): Promise<void> => void (await insertDelivery().execute(delivery)),
    /** What an endpoint is to be sent next: the oldest event that is due, among the hundred that have been due longest. */
    nextDue: async (endpointId: string, now: number) => only(await nextDue().execute({ endpointId, now, among: 100 })),
    find: async (id: string) => only(await db.select().from(webhookEvents).where(eq(webhookEvents.id, id))),
    findDelivery: async (position: number, endpointId: string) =>
      only(
        await db
          .select()
          .from(webhookDeliveries)
          .where(and(eq(webhookDeliveries.position, position), eq(webhookDeliveries.endpointId, endpointId))),
      ),
    /** Writes what came of an attempt, unless somebody has asked for the event again meanwhile, or it is gone. */
    moveDelivery: async (before: Omit<WebhookDelivery, 'nextAttemptAt'>, after: WebhookDelivery): Promise<void> =>
      void (await db
        .update(webhookDeliveries)
        .set({ state: after.state, attempts: after.attempts, nextAttemptAt: after.nextAttemptAt })
        .where(
          and(
            eq(webhookDeliveries.position, before.position),
            eq(webhookDeliveries.endpointId, before.endpointId),
            eq(webhookDeliveries.state, before.state),
            eq(webhookDeliveries.attempts, before.attempts),
          ),
        )),
    /** How many deliveries of events to an endpoint are in each state. */
    countsOf: async (endpointId: string) =>
      await db
        .select({ state: webhookDeliveries.state, count: count() })
        .from(webhookDeliveries)
        .innerJoin(webhookEvents, eq(webhookEvents.position, webhookDeliveries.position))
        .where(and(eq(webhookDeliveries.endpointId, endpointId), isNoPing))
        .groupBy(webhookDeliveries.state),
    /** Deliveries to an endpoint of events since an ID and after a position, in order. */
    positionsSince: async (endpointId: string, sinceId: string, after: number, limit: number) =>
      (
        await db
          .select({ position: webhookEvents.position })
          .from(webhookEvents)
          .innerJoin(
            webhookDeliveries,
            and(eq(webhookDeliveries.position, webhookEvents.position), eq(webhookDeliveries.endpointId, endpointId)),
          )
          .where(and(gte(webhookEvents.id, sinceId), gt(webhookEvents.position, after), isNoPing))
          .orderBy(asc(webhookEvents.position))
          .limit(limit)
      ).map(({ position }) => position),
    /** The same of those that were given up. */
    failedPositions: async (endpointId: string, after: number, limit: number) =>
      (
        await db
          .select({ position: webhookDeliveries.position })
          .from(webhookDeliveries)
          .innerJoin(webhookEvents, eq(webhookEvents.position, webhookDeliveries.position))
          .where(
            and(
              eq(webhookDeliveries.endpointId, endpointId),
              eq(webhookDeliveries.state, 'failed'),
              gt(webhookDeliveries.position, after),
              isNoPing,
            ),
          )
          .orderBy(asc(webhookDeliveries.position))
          .limit(limit)
      ).map(({ position }) => position),
    /** Makes deliveries due at once, with all their attempts before them; gives how many there were. */
    restart: async (endpointId: string, positions: readonly number[], now: number) =>
      (
        await db
          .update(webhookDeliveries)
          .set({ state: 'pending', attempts: 0, nextAttemptAt: now })
          .where(and(eq(webhookDeliveries.endpointId, endpointId), inArray(webhookDeliveries.position, [...positions])))
          .returning({ position: webhookDeliveries.position })
      ).length,
    /** Removes up to `limit` events with an ID before this one, and their deliveries; gives how many events. */
    purge: async (beforeId: string, limit: number) => {
      const first = await db
        .select({ position: webhookEvents.position })
        .from(webhookEvents)
        .where(lt(webhookEvents.id, beforeId))
        .orderBy(asc(webhookEvents.id))
        .limit(limit)
      const positions = first.map(({ position }) => position)
      await db.delete(webhookDeliveries).where(inArray(webhookDeliveries.position, positions))
      await db.delete(webhookEvents).where(inArray(webhookEvents.position, positions))
      return positions.length
    },
  }
}
