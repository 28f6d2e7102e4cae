import { and, asc, desc, eq, gt, max, notExists, or, sql } from 'drizzle-orm'
import { auditEvents, auditPositions } from '../tables/sqlite.ts'
import type { AuditEvent } from './audit.ts'
import { removeSome } from './changes.ts'
import { type DrizzleConnection, only } from './connection.ts'

/** The audit log for readers from outside: from a position on, and about one person. */
export const auditReadingQueries = (db: DrizzleConnection) => ({
  /** The event with the highest position; null if none has one. */
  lastNumbered: async () =>
    only(
      await db
        .select({ position: auditPositions.position, eventId: auditPositions.eventId })
        .from(auditPositions)
        .orderBy(desc(auditPositions.position))
        .limit(1),
    ),
  /**
   * Gives positions to up to `limit` events after the ID that have none, in the order of their IDs. Returns how many. For a
   * serial transaction, so that no position is given twice.
   */
  number: async (afterId: string, limit: number): Promise<number> => {
    const numbered = db
      .select({ one: sql`1` })
      .from(auditPositions)
      .where(eq(auditPositions.eventId, auditEvents.id))
    const events = await db
      .select({ eventId: auditEvents.id })
      .from(auditEvents)
      .where(and(gt(auditEvents.id, afterId), notExists(numbered)))
      .orderBy(asc(auditEvents.id))
      .limit(limit)
    if (events.length === 0) return 0
    const last = only(await db.select({ position: max(auditPositions.position) }).from(auditPositions))?.position ?? 0
    const rows = events.map(({ eventId }, index) => ({ eventId, position: last + index + 1 }))
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      await db.insert(auditPositions).values(rows.slice(start, start + rowsAtOnce))
    }
    return rows.length
  },
  /** Events after the position, in its order. */
  after: async (position: number, limit: number) =>
    await db
      .select({ position: auditPositions.position, event: auditEvents })
      .from(auditPositions)
      .innerJoin(auditEvents, eq(auditEvents.id, auditPositions.eventId))
      .where(gt(auditPositions.position, position))
      .orderBy(asc(auditPositions.position))
      .limit(limit),
  /** Forgets the positions of up to `limit` purged events, and returns how many. The last position stays, as the start of the next. */
  purgePositions: async (limit: number): Promise<number> => {
    const newest = db.select({ position: max(auditPositions.position) }).from(auditPositions)
    const exists = db.select({ id: auditEvents.id }).from(auditEvents).where(eq(auditEvents.id, auditPositions.eventId))
    const isGone = and(notExists(exists), sql`${auditPositions.position} <> (${newest})`)
    return await removeSome(db, auditPositions, isGone, limit, asc(auditPositions.position))
  },
  /** Events that the user caused or that are about them, among the next `rows` after the ID; `searchedTo` is null at the end. */
  aboutUser: async (userId: string, afterId: string, rows: number) => {
    const next = db
      .select({ id: auditEvents.id })
      .from(auditEvents)
      .where(gt(auditEvents.id, afterId))
      .orderBy(asc(auditEvents.id))
    const last = only(await next.limit(1).offset(rows - 1))
    const events: AuditEvent[] = await db
      .select()
      .from(auditEvents)
      .where(
        and(
          gt(auditEvents.id, afterId),
          last === null ? undefined : sql`${auditEvents.id} <= ${last.id}`,
          or(eq(auditEvents.actorId, userId), eq(auditEvents.target, userId)),
        ),
      )
      .orderBy(asc(auditEvents.id))
    return { events, searchedTo: last?.id ?? null }
  },
})

const rowsAtOnce = 500
