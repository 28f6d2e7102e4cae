import { and, asc, type Column, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { timeKeyOfUuid, uuidHexOfTimeKey } from '../../src/domain/time-key.ts'
import { appTokens, auditEvents, clients, credentials, grants, tokenPairs } from '../tables/sqlite.ts'
import { type AuditEvent, issuedEvent, issueId, issuer } from './audit.ts'
import { type DrizzleConnection, only } from './connection.ts'

/** What an event must be; null lets everything be. */
export type AuditQuestion = {
  readonly appId: string | null
  readonly actorKind: AuditEvent['actorKind'] | null
  readonly actorId: string | null
  /** A whole action, or what stands before its dot. */
  readonly action: string | null
  readonly outcome: AuditEvent['outcome'] | null
  readonly requestId: string | null
}

/**
 * Where to look and how far: between two UUIDs (32 hex digits each, neither of them included), from the newest or the
 * oldest on, at most so many rows, for at most so many finds.
 */
export type AuditStretch = {
  readonly after: string
  readonly before: string
  readonly order: 'newest' | 'oldest'
  readonly rows: number
  readonly limit: number
}

/** What was found, and the ID of the last event that was looked at, null when that was all there is. */
export type AuditFinds = { readonly events: readonly AuditEvent[]; readonly searchedTo: string | null }

/**
 * The audit, searched a bounded number of rows at a time: events, and the rows of issued tokens, which are events of
 * their own kind. Each function looks at one of the three, in the order of their IDs.
 */
export const auditSearchQueries = (db: DrizzleConnection) => ({
  events: async (question: AuditQuestion, stretch: AuditStretch): Promise<AuditFinds> => {
    const inStretch = and(
      gt(auditEvents.id, `aud_${stretch.after}`),
      lt(auditEvents.id, `aud_${stretch.before}`),
      question.appId === null ? undefined : eq(auditEvents.appId, question.appId), // an index has these in order
    )
    const order = orderOf(stretch)
    const next = db.select().from(auditEvents).where(inStretch).orderBy(order(auditEvents.id)).limit(stretch.rows)
    const rows = next.as('next')
    const events: AuditEvent[] = await db
      .select()
      .from(rows)
      .where(
        and(
          equals(rows.actorKind, question.actorKind),
          equals(rows.actorId, question.actorId),
          question.action === null ? undefined : isAction(rows.action, question.action),
          equals(rows.outcome, question.outcome),
          equals(rows.requestId, question.requestId),
        ),
      )
      .orderBy(order(rows.id))
      .limit(stretch.limit)
    const last = db.select({ id: auditEvents.id }).from(auditEvents).where(inStretch).orderBy(order(auditEvents.id))
    return { events, searchedTo: only(await last.limit(1).offset(stretch.rows - 1))?.id ?? null }
  },

  appTokens: async (question: AuditQuestion, stretch: AuditStretch): Promise<AuditFinds> => {
    const inStretch = isBetween(appTokens, stretch)
    const order = orderOf(stretch)
    const rows = db
      .select()
      .from(appTokens)
      .where(inStretch)
      .orderBy(order(appTokens.key))
      .limit(stretch.rows)
      .as('next')
    const found = await db
      .select({
        ...issuer,
        key: rows.key,
        uuid: rows.uuid,
        createdAt: rows.createdAt,
        scopes: rows.scopes,
        requestId: rows.requestId,
        address: rows.address,
        target: rows.credentialId,
      })
      .from(rows)
      .innerJoin(credentials, eq(credentials.id, rows.credentialId))
      .innerJoin(clients, eq(clients.id, credentials.clientId))
      .where(and(ofClient(question), equals(rows.requestId, question.requestId)))
      .orderBy(order(rows.key))
      .limit(stretch.limit)
    const last = db
      .select({ key: appTokens.key, uuid: appTokens.uuid })
      .from(appTokens)
      .where(inStretch)
      .orderBy(order(appTokens.key))
    return {
      events: found.map((row) => issuedEvent('app_token.issued', row, row, row.target)),
      searchedTo: idOf(only(await last.limit(1).offset(stretch.rows - 1))),
    }
  },

  tokenPairs: async (question: AuditQuestion, stretch: AuditStretch): Promise<AuditFinds> => {
    const inStretch = isBetween(tokenPairs, stretch)
    const order = orderOf(stretch)
    const next = db.select().from(tokenPairs).where(inStretch).orderBy(order(tokenPairs.key)).limit(stretch.rows)
    const rows = next.as('next')
    const found = await db
      .select({
        ...issuer,
        key: rows.key,
        uuid: rows.uuid,
        createdAt: rows.createdAt,
        scopes: rows.scopes,
        requestId: rows.requestId,
        address: rows.address,
        target: grants.id,
      })
      .from(rows)
      .innerJoin(grants, eq(grants.key, rows.grantKey))
      .innerJoin(clients, eq(clients.id, grants.clientId))
      .where(and(ofClient(question), equals(rows.requestId, question.requestId)))
      .orderBy(order(rows.key))
      .limit(stretch.limit)
    const last = db
      .select({ key: tokenPairs.key, uuid: tokenPairs.uuid })
      .from(tokenPairs)
      .where(inStretch)
      .orderBy(order(tokenPairs.key))
    return {
      events: found.map((row) => issuedEvent('user_tokens.issued', row, row, row.target)),
      searchedTo: idOf(only(await last.limit(1).offset(stretch.rows - 1))),
    }
  },
})

const orderOf = ({ order }: AuditStretch) => (order === 'newest' ? desc : asc)
const idOf = (row: Parameters<typeof issueId>[0] | null) => (row === null ? null : issueId(row))

/** The key says all but for a row that begins as a bound does: of that one the whole UUIDs are compared. */
const isBetween = ({ key, uuid }: typeof appTokens | typeof tokenPairs, { after, before }: AuditStretch) => {
  const [low, high] = [boundOf(after), boundOf(before)]
  return and(
    gte(key, low.key),
    lte(key, high.key),
    or(gt(key, low.key), sql`coalesce(${uuid}, ${low.ofKey}) > ${low.uuid}`),
    or(lt(key, high.key), sql`coalesce(${uuid}, ${high.ofKey}) < ${high.uuid}`),
  )
}

const boundOf = (hex: string) => {
  const uuid = Uint8Array.fromHex(hex)
  const key = timeKeyOfUuid(uuid)
  return { uuid, key, ofKey: Uint8Array.fromHex(uuidHexOfTimeKey(key)) }
}

const ofClient = ({ appId, actorId }: AuditQuestion): SQL | undefined =>
  and(equals(clients.appId, appId), equals(clients.id, actorId))

const equals = (column: Column, value: string | null): SQL | undefined =>
  value === null ? undefined : eq(column, value)

/** `version` is every action of a version, `version.approved` that one. */
const isAction = (column: Column, action: string): SQL | undefined =>
  or(eq(column, action), sql`substr(${column}, 1, ${action.length + 1}) = ${`${action}.`}`)
