import type { Queries } from '../../../db/database.ts'
import type { AppStatus, Environment } from '../../domain/app.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { parseStoredScope, type ScopeName, unionOf } from '../../domain/scope.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'

/** An app, in one environment, that can act for a user. */
export type ConnectedApp = {
  readonly clientId: string
  readonly name: string
  /** The name of the app's owner. */
  readonly publisher: string
  readonly environment: Environment
  readonly status: AppStatus
  /** All that it may do through any of its authorizations, sorted. */
  readonly scopes: readonly ScopeName[]
  /** When the oldest of them was given. */
  readonly since: number
  /** When it last fetched a token; null when it never has. */
  readonly lastFetchedAt: number | null
  /** How many authorizations it has: one per device or browser that consented. */
  readonly authorizations: number
}

type Row = Awaited<ReturnType<Queries['connectedApps']['countByScopes']>>[number]

/**
 * Every app that can act for the caller, the last used first. Whole, not in pages: nobody can judge who has access by
 * half of the list.
 */
export const listConnectedApps = async (platform: Platform, caller: SessionCaller): Promise<ConnectedApp[]> => {
  const rows = await platform.database.queries.connectedApps.countByScopes(caller.user.id, platform.clock.now())
  return Map.groupBy(rows, ({ clientId }) => clientId)
    .values()
    .map(connectedApp)
    .toArray()
    .toSorted((a, b) => lastSignOf(b) - lastSignOf(a))
}

const lastSignOf = ({ lastFetchedAt, since }: ConnectedApp): number => lastFetchedAt ?? since

/** One app out of its rows, which differ in their scopes. */
const connectedApp = (rows: readonly Row[]): ConnectedApp => {
  const [first] = rows
  const environment = first === undefined ? null : environmentOfClientId(first.clientId)
  if (first === undefined || environment === null) throw new Error('a grant has no client')
  const fetched = rows.flatMap(({ newestPairAt }) => newestPairAt ?? [])
  return {
    clientId: first.clientId,
    name: first.appName,
    publisher: first.publisher,
    environment,
    status: first.appStatus,
    scopes: unionOf(rows.map(({ scopes }) => parseStoredScope(scopes))),
    since: Math.min(...rows.flatMap(({ oldestAt }) => oldestAt ?? [])),
    lastFetchedAt: fetched.length === 0 ? null : Math.max(...fetched),
    authorizations: rows.reduce((total, { grants }) => total + grants, 0),
  }
}
