import type { Queries } from '../../../db/database.ts'
import type { AppStatus, Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { parseStoredScope, type ScopeName, unionOf } from '../../domain/scope.ts'
import { auditStamp, followingStamp } from '../audit/event.ts'
import type { SessionCaller } from '../authenticate.ts'
import { decideToEnd, done, refused } from '../decision.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform, Trace } from '../platform.ts'
import { announce } from '../webhooks/events.ts'

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

/** One consent of a user to one app: what it may do on one device or in one browser. */
export type ConnectedGrant = {
  readonly grantId: string
  readonly scopes: readonly ScopeName[]
  readonly since: number
  /** When the app last fetched a token with it; null when it never has. */
  readonly lastFetchedAt: number | null
  /** When it ends by itself unless the app fetches another token before. */
  readonly expiresAt: number
}

/**
 * The caller's live authorizations of one client, newest first.
 * @throws invalid_request for a cursor that this list did not give
 */
export const listAuthorizations = async (
  platform: Platform,
  caller: SessionCaller,
  clientId: string,
  page: PageRequest,
): Promise<Page<ConnectedGrant>> => {
  if (page.cursor !== null && !/^grt_[0-9a-f]{32}$/.test(page.cursor)) {
    throw refuse('invalid_request', { param: 'cursor' })
  }
  const rows = await platform.database.queries.connectedApps.grantsOf(caller.user.id, clientId, {
    now: platform.clock.now(),
    before: page.cursor ?? beyondEveryId,
    limit: page.limit + 1,
  })
  const authorizations = rows.map(({ id, scopes, createdAt, newestPairAt, expiresAt }) => ({
    grantId: id,
    scopes: parseStoredScope(scopes),
    since: createdAt,
    lastFetchedAt: newestPairAt,
    expiresAt,
  }))
  return pageOf(authorizations, page.limit, ({ grantId }) => grantId)
}

/** Which of a user's apps: one, in its environment, or all there are. */
export type ConnectedAppChoice = { readonly kind: 'one'; readonly clientId: string } | { readonly kind: 'all' }

/** More than anybody has by hand. Whoever has made thousands must not stop the server by taking them back. */
const atOnce = 500

/**
 * Takes back everything that the caller has allowed an app, or all apps: the grants end with their codes and tokens, in
 * one transaction (in several where they are more than hundreds), each with its own row in the audit. Once it has answered
 * nothing of them works, also not a refresh that was on its way. Gives how many grants ended.
 * @throws grant_not_found for an app that the caller has never allowed anything
 */
export const revokeConnectedApps = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  choice: ConnectedAppChoice,
): Promise<number> => {
  let total = 0
  let after = ''
  for (;;) {
    const ended = await revokeSome(platform, trace, caller, choice, after)
    total += ended.length
    if (ended.length < atOnce) return total
    after = ended.reduce((latest, id) => (id > latest ? id : latest), after)
  }
}

/** Ends the first grants after the ID, and gives their IDs. */
const revokeSome = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  choice: ConnectedAppChoice,
  after: string,
): Promise<readonly string[]> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const actor = { kind: 'user', id: caller.user.id } as const
  const clientId = choice.kind === 'one' ? choice.clientId : null
  return await decideToEnd(platform.database, async (q) => {
    const ended = await q.grants.revokeOfUser(caller.user.id, clientId, now, { after, limit: atOnce })
    if (ended.length === 0 && clientId !== null && !(await q.grants.wasGranted(caller.user.id, clientId))) {
      return refused(refuse('grant_not_found'))
    }
    for (const [index, grant] of ended.entries()) {
      const environment = environmentOfClientId(grant.clientId)
      const about = { actor, appId: grant.appId, environment, target: grant.id }
      await announce(q, followingStamp(stamp, index), { ...about, action: 'grant.revoked' })
    }
    return done(ended.map(({ id }) => id))
  })
}
