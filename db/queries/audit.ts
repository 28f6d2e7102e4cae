import { and, asc, desc, eq, gt, gte, inArray, lt, min, notInArray, type SQL, sql } from 'drizzle-orm'
import { recordId, uuidTimeOfRecordId } from '../../src/domain/identifier.ts'
import { type TimeKey, timeKeyAt, uuidHexOfTimeKey } from '../../src/domain/time-key.ts'
import { appTokens, auditEvents, clients, credentials, grants, tokenPairs } from '../tables/sqlite.ts'
import type { AppToken } from './app-tokens.ts'
import type { Client } from './apps.ts'
import { type DrizzleConnection, everyColumn, given, givenLimit, lazily, only } from './connection.ts'
import { writer } from './reader.ts'

export type AuditEvent = typeof auditEvents.$inferSelect
/** The ID bounds what is read, in the order of the key; the moment says what may go. */
type PurgeStretch = { readonly beforeId: string; readonly before: number; readonly limit: number }
export type AuditListing = { readonly appId: string | null; readonly since: number; readonly limit: number }

/**
 * Events that tell a restore what has happened since its backup was made, because nothing else of it is left
 * (`restore/ends.ts`, `restore/predecessor.ts`). They are never purged.
 */
export const proofActions = {
  redirectUriAdded: 'redirect_uri.added',
  webhookCreated: 'webhook.created',
  webhookSecretRotated: 'webhook.secret_rotated',
  restored: 'database.restored',
  recovered: 'database.recovered',
  clockReset: 'clock.reset',
} as const
export type ProofAction = (typeof proofActions)[keyof typeof proofActions]

/**
 * What happened, who did it, from where. An issued token's own row is its record, so a hot path writes one row, not
 * two; `list` tells it in the same form as every other event. When such rows are purged, an event sums them up.
 */
export const auditQueries = (db: DrizzleConnection) => {
  const insert = lazily(() => writer(db.insert(auditEvents).values(everyColumn(auditEvents))))
  /** Never the first event of all: by that a restore knows a predecessor of the same origin (`restore/predecessor.ts`). */
  const isPurgeable = and(
    lt(auditEvents.id, given('beforeId')),
    lt(auditEvents.at, given('before')),
    gt(auditEvents.id, db.select({ id: min(auditEvents.id) }).from(auditEvents)),
    notInArray(auditEvents.action, Object.values(proofActions)),
  )
  /** In the words of `audit_events_anonymous`, so that SQLite takes that index. */
  const isAnonymousRefusal = and(eq(auditEvents.actorKind, sql`'anonymous'`), eq(auditEvents.outcome, sql`'refused'`))
  const remove = (condition: SQL | undefined) => {
    const oldest = db.select({ id: auditEvents.id }).from(auditEvents).where(condition)
    const some = oldest.orderBy(asc(auditEvents.id)).limit(givenLimit('limit'))
    return db.delete(auditEvents).where(inArray(auditEvents.id, some)).returning({ at: auditEvents.at }).prepare()
  }
  const purge = lazily(() => remove(isPurgeable))
  const purgeAnonymous = lazily(() => remove(and(isAnonymousRefusal, isPurgeable)))

  const newest = async () => only(await db.select().from(auditEvents).orderBy(desc(auditEvents.id)).limit(1))

  const events = async ({ appId, since, limit }: AuditListing): Promise<AuditEvent[]> =>
    await db
      .select()
      .from(auditEvents)
      .where(and(gte(auditEvents.at, since), appId === null ? undefined : eq(auditEvents.appId, appId)))
      .orderBy(desc(auditEvents.id))
      .limit(limit)

  const issuedAppTokens = async ({ appId, since, limit }: AuditListing): Promise<AuditEvent[]> => {
    const rows = await db
      .select({ ...issuer, token: appTokens })
      .from(appTokens)
      .innerJoin(credentials, eq(credentials.id, appTokens.credentialId))
      .innerJoin(clients, eq(clients.id, credentials.clientId))
      .where(ofApp(appId, gte(appTokens.key, timeKeyAt(since))))
      .orderBy(desc(appTokens.key))
      .limit(limit)
    return rows.map((row) => issuedEvent('app_token.issued', row, row.token, row.token.credentialId))
  }

  const issuedTokenPairs = async ({ appId, since, limit }: AuditListing): Promise<AuditEvent[]> => {
    const rows = await db
      .select({ ...issuer, pair: tokenPairs, grantId: grants.id })
      .from(tokenPairs)
      .innerJoin(grants, eq(grants.key, tokenPairs.grantKey))
      .innerJoin(clients, eq(clients.id, grants.clientId))
      .where(ofApp(appId, gte(tokenPairs.key, timeKeyAt(since))))
      .orderBy(desc(tokenPairs.key))
      .limit(limit)
    return rows.map((row) => issuedEvent('user_tokens.issued', row, row.pair, row.grantId))
  }

  return {
    insert: (event: AuditEvent) => insert().run(event),
    /**
     * How far the IDs of events run ahead of their times, in milliseconds. `clock reset` takes back the times and leaves the
     * IDs; those of later events run ahead as much, so that they sort after the earlier ones. The newest event tells it.
     */
    aheadMs: async (): Promise<number> => {
      const event = await newest()
      const ahead = event === null ? 0 : uuidTimeOfRecordId(event.id) - event.at
      return ahead < leastAheadMs ? 0 : ahead
    },
    /** The time in the highest ID; null where nothing has happened. */
    newestIdTime: async (): Promise<number | null> => {
      const event = await newest()
      return event === null ? null : uuidTimeOfRecordId(event.id)
    },
    /**
     * Removes up to `limit` events of before that moment with an ID of before `beforeId`, oldest first, that no restore
     * needs; gives when each happened.
     */
    purge: async (stretch: PurgeStretch) => await purge().execute(stretch),
    /** Likewise refusals without a known caller. */
    purgeAnonymous: async (stretch: PurgeStretch) => await purgeAnonymous().execute(stretch),
    /** The latest events of the filter, oldest first, issued tokens among them. */
    list: async (filter: AuditListing): Promise<AuditEvent[]> =>
      (await Promise.all([events(filter), issuedAppTokens(filter), issuedTokenPairs(filter)]))
        .flat()
        .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .slice(-filter.limit),
    /** Events of one app before the ID, newest first, of one action or of all (null). Issued tokens are not among them. */
    pageOfApp: async (appId: string, action: string | null, beforeId: string, limit: number): Promise<AuditEvent[]> =>
      await db
        .select()
        .from(auditEvents)
        .where(
          and(
            eq(auditEvents.appId, appId),
            lt(auditEvents.id, beforeId),
            action === null ? undefined : eq(auditEvents.action, action),
          ),
        )
        .orderBy(desc(auditEvents.id))
        .limit(limit),
  }
}

/** IDs of one millisecond borrow from the next ones when there are very many: that is no lead. */
const leastAheadMs = 1_000

const ofApp = (appId: string | null, condition: SQL) =>
  and(condition, appId === null ? undefined : eq(clients.appId, appId))

/** The columns that say who was issued a token. */
export const issuer = { clientId: clients.id, environment: clients.environment, appId: clients.appId }
type Issuer = Pick<Client, 'environment' | 'appId'> & { readonly clientId: string }
type Issued = Pick<AppToken, 'createdAt' | 'scopes' | 'requestId' | 'address'> & IssueKey
type IssueKey = { readonly key: TimeKey; readonly uuid: Uint8Array | null }

/** The only actions that an issued token can tell of. */
export type IssueAction = 'app_token.issued' | 'user_tokens.issued'

/** The ID of the event that the row of an issued token is: made of its key, or of the UUID that was its key before. */
export const issueId = ({ key, uuid }: IssueKey): string =>
  uuid === null ? `aud_${uuidHexOfTimeKey(key)}` : recordId('aud_', uuid)

/** What the row of an issued token says, in the form of an event. */
export const issuedEvent = (action: IssueAction, by: Issuer, issued: Issued, target: string): AuditEvent => ({
  id: issueId(issued),
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
