import { and, desc, eq, gte } from 'drizzle-orm'
import { keyOfUuidTime, recordIdOfKey } from '../../src/domain/identifier.ts'
import { appTokens, auditEvents, clients, credentials, grants, tokenPairs } from '../tables/sqlite.ts'
import { type Connection, everyColumn, lazily } from './connection.ts'

export type AuditEvent = typeof auditEvents.$inferSelect
export type AuditFilter = { readonly appId: string | null; readonly since: number; readonly limit: number }

/**
 * What happened, who did it, from where. An issued token's own row is its record, so a hot path writes one row, not
 * two; `list` tells it in the same form as every other event. When such rows are purged, an event sums them up.
 */
export const auditQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(auditEvents).values(everyColumn(auditEvents)).prepare())

  const events = async ({ appId, since, limit }: AuditFilter): Promise<AuditEvent[]> =>
    await db
      .select()
      .from(auditEvents)
      .where(and(gte(auditEvents.at, since), appId === null ? undefined : eq(auditEvents.appId, appId)))
      .orderBy(desc(auditEvents.id))
      .limit(limit)

  const issuedAppTokens = async ({ appId, since, limit }: AuditFilter): Promise<AuditEvent[]> => {
    const rows = await db
      .select({ token: appTokens, clientId: clients.id, environment: clients.environment, appId: clients.appId })
      .from(appTokens)
      .innerJoin(credentials, eq(credentials.id, appTokens.credentialId))
      .innerJoin(clients, eq(clients.id, credentials.clientId))
      .where(
        and(gte(appTokens.key, keyOfUuidTime(since)), appId === null ? undefined : eq(clients.appId, appId)),
      )
      .orderBy(desc(appTokens.key))
      .limit(limit)
    return rows.map(({ token, ...issuer }) => ({
      id: recordIdOfKey('aud_', token.key),
      at: token.createdAt,
      actorKind: 'app',
      actorId: issuer.clientId,
      appId: issuer.appId,
      environment: issuer.environment,
      action: 'app_token.issued',
      target: token.credentialId,
      outcome: 'done',
      reason: null,
      detail: JSON.stringify({ scope: token.scopes }),
      requestId: token.requestId,
      address: token.address,
    }))
  }

  const issuedTokenPairs = async ({ appId, since, limit }: AuditFilter): Promise<AuditEvent[]> => {
    const rows = await db
      .select({ pair: tokenPairs, clientId: clients.id, environment: clients.environment, appId: clients.appId })
      .from(tokenPairs)
      .innerJoin(grants, eq(grants.id, tokenPairs.grantId))
      .innerJoin(clients, eq(clients.id, grants.clientId))
      .where(
        and(gte(tokenPairs.key, keyOfUuidTime(since)), appId === null ? undefined : eq(clients.appId, appId)),
      )
      .orderBy(desc(tokenPairs.key))
      .limit(limit)
    return rows.map(({ pair, ...issuer }) => ({
      id: recordIdOfKey('aud_', pair.key),
      at: pair.createdAt,
      actorKind: 'app',
      actorId: issuer.clientId,
      appId: issuer.appId,
      environment: issuer.environment,
      action: 'user_tokens.issued',
      target: pair.grantId,
      outcome: 'done',
      reason: null,
      detail: JSON.stringify({ scope: pair.scopes }),
      requestId: pair.requestId,
      address: pair.address,
    }))
  }

  return {
    insert: async (event: AuditEvent) => void (await insert().execute(event)),
    /** The latest events of the filter, oldest first, issued tokens among them. */
    list: async (filter: AuditFilter): Promise<AuditEvent[]> =>
      (await Promise.all([events(filter), issuedAppTokens(filter), issuedTokenPairs(filter)]))
        .flat()
        .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
        .slice(-filter.limit),
  }
}
