import {
  and,
  asc,
  type Column,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  lte,
  min,
  notInArray,
  or,
  type SQL,
  sql,
  max,
  notExists,
} from 'drizzle-orm'
import { uuidTimeOfRecordId } from '../../src/domain/identifier.ts'
import { type TimeKey, timeKeyAt, timeKeyOfUuid, uuidHexOfTimeKey } from '../../src/domain/time-key.ts'
import { appTokens, auditEvents, clients, credentials, grants, tokenPairs, auditPositions } from '../tables/sqlite.ts'
import { lazily } from '../../src/domain/remembered.ts'
import { type DrizzleConnection, given, givenLimit, only } from './connection.ts'
import { countAmong } from './places.ts'
import { finder, inserter, removeSome } from './rows.ts'

export type AuditEvent = typeof auditEvents.$inferSelect
/** The ID bounds what is read, in the order of the key. The time says what may be removed. */
type PurgeStretch = { readonly beforeId: string; readonly before: number; readonly limit: number }
type AuditListing = { readonly appId: string | null; readonly since: number; readonly limit: number }

/** What an event must match. Null matches everything. */
export type AuditQuestion = {
  readonly appId: string | null
  readonly actorKind: AuditEvent['actorKind'] | null
  readonly actorId: string | null
  /** A whole action, or the part before its dot. */
  readonly action: string | null
  /** The ID of what the event is about. */
  readonly target: string | null
  readonly outcome: AuditEvent['outcome'] | null
  readonly requestId: string | null
}

/**
 * Where a search looks and how far: between two UUIDs (32 hex digits each, both excluded), from the newest or the oldest on.
 * It reads at most `rows` rows and returns at most `limit` events.
 */
export type AuditStretch = {
  readonly after: string
  readonly before: string
  readonly order: 'newest' | 'oldest'
  readonly rows: number
  readonly limit: number
}

/** Between two UUIDs, and from `since` (inclusive) to `until` (exclusive), in epoch milliseconds. */
type AuditPeriod = Pick<AuditStretch, 'after' | 'before'> & Readonly<Record<'since' | 'until', number | null>>

/** What was found, and the ID of the last event that was read; null if there are no more. */
export type AuditFinds = { readonly events: readonly AuditEvent[]; readonly searchedTo: string | null }

/**
 * Events that tell a restore what has happened since its backup was made, because nothing else of it is left
 * (`restore.ts`, `restore/ends.ts`). They are never purged.
 */
export const proofActions = {
  redirectUriAdded: 'redirect_uri.added',
  userLinked: 'user.linked',
  webhookCreated: 'webhook.created',
  webhookSecretRotated: 'webhook.secret_rotated',
  restored: 'database.restored',
  recovered: 'database.recovered',
  clockReset: 'clock.reset',
} as const
export type ProofAction = (typeof proofActions)[keyof typeof proofActions]

/**
 * What happened, who did it, from where. The row of an issued token is its own record, so a hot path writes one row, not two;
 * `list` and the searches return it in the form of an event. When such rows are purged, an event sums them up.
 */
export const auditQueries = (db: DrizzleConnection) => {
  /** Never the first event of all: a restore recognises a predecessor of the same origin by it (`restore.ts`). */
  const isPurgeable = and(
    lt(auditEvents.id, given('beforeId')),
    lt(auditEvents.at, given('before')),
    gt(auditEvents.id, db.select({ id: min(auditEvents.id) }).from(auditEvents)),
    notInArray(auditEvents.action, Object.values(proofActions)),
  )
  /** The condition of the index `audit_events_anonymous`, in the same words, so that SQLite uses it. */
  const isAnonymousRefusal = and(eq(auditEvents.actorKind, sql`'anonymous'`), eq(auditEvents.outcome, sql`'refused'`))
  const remove = (condition: SQL | undefined) => {
    const oldest = db.select({ id: auditEvents.id }).from(auditEvents).where(condition)
    const some = oldest.orderBy(asc(auditEvents.id)).limit(givenLimit('limit'))
    return db.delete(auditEvents).where(inArray(auditEvents.id, some)).returning({ at: auditEvents.at }).prepare()
  }
  const purge = lazily(() => remove(isPurgeable))
  const purgeAnonymous = lazily(() => remove(and(isAnonymousRefusal, isPurgeable)))

  const newest = async () => only(await db.select().from(auditEvents).orderBy(desc(auditEvents.id)).limit(1))

  const events = async (condition: SQL | undefined, order: SQL, limit: number): Promise<AuditEvent[]> =>
    await db.select().from(auditEvents).where(condition).orderBy(order).limit(limit)

  const issuedAppTokens: FindIssued = async (condition, order, limit) => {
    const rows = await db
      .select({ ...issuer, token: appTokens })
      .from(appTokens)
      .innerJoin(credentials, eq(credentials.id, appTokens.credentialId))
      .innerJoin(clients, eq(clients.id, credentials.clientId))
      .where(condition)
      .orderBy(order)
      .limit(limit)
    return rows.map((row) => issuedEvent('app_token.issued', row, row.token, row.token.credentialId))
  }

  const issuedTokenPairs: FindIssued = async (condition, order, limit) => {
    const rows = await db
      .select({ ...issuer, pair: tokenPairs, grantId: grants.id })
      .from(tokenPairs)
      .innerJoin(grants, eq(grants.key, tokenPairs.grantKey))
      .innerJoin(clients, eq(clients.id, grants.clientId))
      .where(condition)
      .orderBy(order)
      .limit(limit)
    return rows.map((row) => issuedEvent('user_tokens.issued', row, row.pair, row.grantId))
  }

  const searchIssued = async (
    table: typeof appTokens | typeof tokenPairs,
    find: FindIssued,
    target: Column,
    { appId, actorId, requestId, ...question }: AuditQuestion,
    stretch: AuditStretch,
  ): Promise<AuditFinds> => {
    const { key } = table
    const bounds = issuedBounds(table, stretch)
    const order = orderOf(stretch)(key)
    const reads = db
      .select({ key })
      .from(table)
      .where(and(...bounds))
      .orderBy(order)
    const last = only(await reads.limit(1).offset(stretch.rows - 1))
    const asked = [
      equals(clients.appId, appId),
      equals(clients.id, actorId),
      equals(target, question.target),
      equals(table.requestId, requestId),
    ]
    return {
      events: await find(and(upTo(key, last?.key ?? null, bounds, stretch), ...asked), order, stretch.limit),
      searchedTo: last === null ? null : issueId(last.key),
    }
  }

  return {
    insert: inserter(db, auditEvents),
    byId: finder(db, auditEvents, 'id'),
    /**
     * How far the IDs of events run ahead of their times, in milliseconds. `clock reset` sets the times back and leaves the
     * IDs. Those of later events run ahead by as much, so that they sort after the earlier ones. The newest event tells it.
     */
    aheadMs: async (): Promise<number> => {
      const event = await newest()
      const ahead = event === null ? 0 : uuidTimeOfRecordId(event.id) - event.at
      return ahead < leastAheadMs ? 0 : ahead
    },
    /** The time in the highest ID; null if there are no events. */
    newestIdTime: async (): Promise<number | null> => {
      const event = await newest()
      return event === null ? null : uuidTimeOfRecordId(event.id)
    },
    /**
     * Removes up to `limit` events from before that time with an ID before `beforeId`, oldest first, that no restore needs.
     * Returns when each of them happened.
     */
    purge: async (stretch: PurgeStretch) => await purge().execute(stretch),
    /** The same for refusals without a known caller. */
    purgeAnonymous: async (stretch: PurgeStretch) => await purgeAnonymous().execute(stretch),
    /** The latest events since a time, of one app or of all (null), oldest first, issued tokens among them. */
    list: async ({ appId, since, limit }: AuditListing): Promise<AuditEvent[]> => {
      const ofApp = equals(clients.appId, appId)
      const found = await Promise.all([
        events(and(gte(auditEvents.at, since), equals(auditEvents.appId, appId)), desc(auditEvents.id), limit),
        issuedAppTokens(and(gte(appTokens.key, timeKeyAt(since)), ofApp), desc(appTokens.key), limit),
        issuedTokenPairs(and(gte(tokenPairs.key, timeKeyAt(since)), ofApp), desc(tokenPairs.key), limit),
      ])
      return found
        .flat()
        .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .slice(-limit)
    },
    /** Events of one app before the ID, newest first, of one action or of all (null). Issued tokens are not among them. */
    pageOfApp: async (appId: string, action: string | null, beforeId: string, limit: number): Promise<AuditEvent[]> =>
      await events(
        and(eq(auditEvents.appId, appId), lt(auditEvents.id, beforeId), equals(auditEvents.action, action)),
        desc(auditEvents.id),
        limit,
      ),
    /** The first event of one action about this thing of an app; null if there is none any more. */
    firstAbout: async (appId: string, action: string, target: string): Promise<AuditEvent | null> =>
      only(
        await events(
          and(eq(auditEvents.appId, appId), eq(auditEvents.action, action), eq(auditEvents.target, target)),
          asc(auditEvents.id),
          1,
        ),
      ),
    /** This and the next two search a bounded number of rows, in the order of their IDs; this one does not search issued tokens. */
    searchEvents: async (question: AuditQuestion, stretch: AuditStretch): Promise<AuditFinds> => {
      const { id } = auditEvents
      const bounds = [gt(id, `aud_${stretch.after}`), lt(id, `aud_${stretch.before}`)] as const
      const ofApp = equals(auditEvents.appId, question.appId) // an index has the events of an app in order
      const order = orderOf(stretch)(id)
      const reads = db
        .select({ id })
        .from(auditEvents)
        .where(and(...bounds, ofApp))
        .orderBy(order)
      const searchedTo = only(await reads.limit(1).offset(stretch.rows - 1))?.id ?? null
      const condition = and(upTo(id, searchedTo, bounds, stretch), ofApp, matches(question))
      return { events: await events(condition, order, stretch.limit), searchedTo }
    },
    /** How many of the newest events before a UUID match, without issued tokens. */
    countFound: async (question: AuditQuestion, { after, before, since, until }: AuditPeriod) => {
      const { id, at } = auditEvents
      const isInTime = and(since === null ? undefined : gte(at, since), until === null ? undefined : lt(at, until))
      const scope = and(gt(id, `aud_${after}`), lt(id, `aud_${before}`), equals(auditEvents.appId, question.appId))
      return await countAmong(db, auditEvents, and(matches(question), isInTime), scope, [desc(id)])
    },
    searchAppTokens: async (question: AuditQuestion, stretch: AuditStretch) =>
      await searchIssued(appTokens, issuedAppTokens, credentials.id, question, stretch),
    searchTokenPairs: async (question: AuditQuestion, stretch: AuditStretch) =>
      await searchIssued(tokenPairs, issuedTokenPairs, grants.id, question, stretch),
  }
}

/** IDs of one millisecond borrow from the next ones when there are very many. That does not count as ahead. */
const leastAheadMs = 1_000

const equals = (column: Column, value: string | null): SQL | undefined =>
  value === null ? undefined : eq(column, value)

/** `version` is every action of a version, `version.approved` that one. */
const isAction = (action: string): SQL | undefined =>
  or(eq(auditEvents.action, action), sql`substr(${auditEvents.action}, 1, ${action.length + 1}) = ${`${action}.`}`)

const orderOf = ({ order }: AuditStretch) => (order === 'newest' ? desc : asc)

/** What an event must match besides its app and its time. */
const matches = ({ actorKind, actorId, action, target, outcome, requestId }: AuditQuestion): SQL | undefined =>
  and(
    equals(auditEvents.actorKind, actorKind),
    equals(auditEvents.actorId, actorId),
    action === null ? undefined : isAction(action),
    equals(auditEvents.target, target),
    equals(auditEvents.outcome, outcome),
    equals(auditEvents.requestId, requestId),
  )

type Bounds = readonly [SQL | undefined, SQL | undefined]

/**
 * The stretch up to the last row that is read; null for all of it. That row replaces the bound at its end, because of two
 * conditions at one end SQLite may search by the wider one.
 */
const upTo = (column: Column, last: unknown, [low, high]: Bounds, { order }: AuditStretch): SQL | undefined => {
  if (last === null) return and(low, high)
  return order === 'newest' ? and(gte(column, last), high) : and(low, lte(column, last))
}

/** The key decides; the row whose UUID begins like a bound is in the stretch if its whole UUID is. */
const issuedBounds = ({ key }: typeof appTokens | typeof tokenPairs, { after, before }: AuditStretch): Bounds => {
  const [low, high] = [after, before].map((hex) => timeKeyOfUuid(Uint8Array.fromHex(hex))) as [TimeKey, TimeKey]
  return [
    uuidHexOfTimeKey(low) > after ? gte(key, low) : gt(key, low),
    uuidHexOfTimeKey(high) < before ? lte(key, high) : lt(key, high),
  ]
}

type FindIssued = (condition: SQL | undefined, order: SQL, limit: number) => Promise<AuditEvent[]>

/** The columns that say who was issued a token. */
const issuer = { clientId: clients.id, environment: clients.environment, appId: clients.appId }
type Issuer = Pick<typeof clients.$inferSelect, 'environment' | 'appId'> & { readonly clientId: string }
type Issued = Pick<typeof appTokens.$inferSelect, 'key' | 'createdAt' | 'scopes' | 'requestId' | 'address'>

/** The ID of the event that the row of an issued token stands for. */
export const issueId = (key: TimeKey): string => `aud_${uuidHexOfTimeKey(key)}`

/** What the row of an issued token says, in the form of an event. */
const issuedEvent = (action: string, by: Issuer, issued: Issued, target: string): AuditEvent => ({
  id: issueId(issued.key),
  at: issued.createdAt,
  actorKind: 'app',
  actorId: by.clientId,
  appId: by.appId,
  environment: by.environment,
  action,
  target,
  outcome: 'done',
  reason: null,
  detail: JSON.stringify({ scope: issued.scopes }),
  requestId: issued.requestId,
  address: issued.address,
})

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
