import type { Client, Place, Queries } from '../../db/database.ts'
import { shownIcon } from '../domain/app-icon.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import { environmentOfClientId } from '../domain/identifier.ts'
import type { EndingStep } from '../domain/install.ts'
import { parseStoredScope, unionOf } from '../domain/scope.ts'
import type { Actor } from './audit/event.ts'
import { actorOf, type SessionCaller } from './authenticate.ts'
import { decide, type OpenChange, type Operation } from './decide.ts'
import { endOpenInstall } from './installs/installs.ts'
import { newestFirst, type PageRequest, strangeCursor } from './page.ts'
import type { Platform, Trace } from './platform.ts'

type Row = Awaited<ReturnType<Queries['connectedApps']['countByScopes']>>[number]

/**
 * Every app that can act for the caller, the last used first. Not paged, because a user needs the whole list to judge who
 * has access.
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

/** An app, in one environment, that can act for a user. */
export type ConnectedApp = ReturnType<typeof connectedApp>

/** The app of rows that differ only in their scopes. */
const connectedApp = (rows: readonly Row[]) => {
  const [first] = rows
  const environment = first === undefined ? null : environmentOfClientId(first.clientId)
  if (first === undefined || environment === null) throw new Error('a grant has no client')
  const fetched = rows.flatMap(({ newestPairAt }) => newestPairAt ?? [])
  return {
    clientId: first.clientId,
    appId: first.appId,
    name: first.appName,
    publisher: first.publisher,
    icon: shownIcon({ status: first.appStatus, iconSha256: first.iconSha256 }),
    environment,
    status: first.appStatus,
    /** The scopes of all its authorizations together, sorted. */
    scopes: unionOf(rows.map(({ scopes }) => parseStoredScope(scopes))),
    /** When the oldest authorization was given. */
    since: Math.min(...rows.flatMap(({ oldestAt }) => oldestAt ?? [])),
    /** When it last fetched a token; null if it never has. */
    lastFetchedAt: fetched.length === 0 ? null : Math.max(...fetched),
    /** How many authorizations it has: one per device or browser that consented. */
    authorizations: rows.reduce((total, { grants }) => total + grants, 0),
  }
}

/** One authorization of an app by a user. */
export type ConnectedGrant = Awaited<ReturnType<typeof listAuthorizations>>['data'][number]

/**
 * The caller's live authorizations of one client, newest first: each was given on one device or in one browser.
 * @throws invalid_request for a cursor that this list did not return
 */
export const listAuthorizations = async (
  platform: Platform,
  caller: SessionCaller,
  clientId: string,
  page: PageRequest,
) => {
  if (page.cursor !== null && !/^grt_[0-9a-f]{32}$/.test(page.cursor)) throw strangeCursor()
  const now = platform.clock.now()
  const read = async (before: Place, limit: number) =>
    await platform.database.queries.connectedApps.grantsOf(caller.user.id, clientId, { now, before, limit })
  const found = await newestFirst(page, read)
  const data = found.data.map(({ id, scopes, createdAt, newestPairAt, expiresAt }) => ({
    grantId: id,
    scopes: parseStoredScope(scopes),
    since: createdAt,
    /** When the app last fetched a token with it; null if it never has. */
    lastFetchedAt: newestPairAt,
    /** When it expires unless the app fetches another token. */
    expiresAt,
  }))
  return { ...found, data }
}

/** When the caller gave this live authorization. @throws route_not_found when there is none */
export const authorizedAt = async (
  { database }: Platform,
  caller: SessionCaller,
  clientId: string,
  grantId: string,
) => {
  const grant = await database.queries.grants.byId(grantId)
  if (grant === null || grant.userId !== caller.user.id || grant.clientId !== clientId || grant.revokedAt !== null) {
    throw refuse('route_not_found')
  }
  return grant.createdAt
}

/** One of the user's apps, in one environment, or all of them. */
type ConnectedAppChoice =
  | {
      readonly kind: 'one'
      readonly clientId: string
      /** Whether the app is also uninstalled from every website and store of the user. */
      readonly uninstalls?: boolean
    }
  | { readonly kind: 'all' }

/** Grants that one transaction ends at most, so that a user with thousands of them does not block other writes. */
const atOnce = 500

/**
 * Revokes all grants of the caller to an app, or to all apps, with their codes and tokens. Each leaves its own audit event.
 * Up to 500 grants end in one transaction, the first one together with the installs. Once this has returned, nothing of them works,
 * not even a refresh that was under way. Returns how many grants ended.
 * @throws grant_not_found for an app that the caller has never authorized
 */
export const revokeConnectedApps = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  choice: ConnectedAppChoice,
): Promise<number> => {
  const clientId = choice.kind === 'one' ? choice.clientId : null
  const of = { userId: caller.user.id, clientId }
  return await revokeInParts(platform, trace, actorOf(caller), of, async (change) => {
    const { grants, apps } = change.q
    if (clientId === null) return null
    if (!(await grants.wasGranted(of.userId, clientId))) return refuse('grant_not_found')
    const client = choice.kind === 'one' && choice.uninstalls === true ? await apps.byClient(clientId) : null
    return client === null ? null : await uninstallEverywhere(change, of.userId, client.client)
  })
}

/**
 * Ends an install for its owner, and all their grants to its app in the same environment. Returns the step that ended it.
 * @throws version_not_eligible when the install has already ended
 */
export const endInstallAndAccess: Operation<string, EndingStep> = async (platform, trace, actor, id) => {
  const { installs, apps } = platform.database.queries
  const install = (await installs.find(id))?.install ?? null
  const clients = install === null ? [] : await apps.clientsOf(install.appId)
  const client = clients.find(({ environment }) => environment === install?.environment)
  if (install === null || client === undefined) throw refuse('route_not_found')
  const of = { userId: install.userId, clientId: client.id }
  let step: EndingStep = 'deactivate'
  await revokeInParts(platform, trace, actor, of, async (change) => {
    const taken = await endOpenInstall(change, id)
    if (taken instanceof PlatformError) return taken
    step = taken
    return null
  })
  return step
}

/** Ends every install of an app that the user has on a website or store, in one environment. */
const uninstallEverywhere = async (
  change: OpenChange,
  userId: string,
  { appId, environment }: Pick<Client, 'appId' | 'environment'>,
): Promise<PlatformError | null> => {
  for (const install of await change.q.installs.openOfUser(userId)) {
    if (install.appId !== appId || install.environment !== environment) continue
    const refused = await endOpenInstall(change, install.id)
    if (refused instanceof PlatformError) return refused
  }
  return null
}

/** Runs `first` and revokes the first grants in one transaction, and the others in further ones. Returns how many ended. */
const revokeInParts = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { userId, clientId }: { readonly userId: string; readonly clientId: string | null },
  first: (change: OpenChange) => Promise<PlatformError | null>,
): Promise<number> => {
  let total = 0
  let after = ''
  for (;;) {
    const from = after
    const ended = await decide(platform, trace, { actor, endsAccess: true }, async (change) => {
      const { q, now, record } = change
      const refused = from === '' ? await first(change) : null
      if (refused !== null) return refused
      const revoked = await q.grants.revokeOfUser(userId, clientId, now, { after: from, limit: atOnce })
      for (const grant of revoked) {
        const environment = environmentOfClientId(grant.clientId)
        await record({ action: 'grant.revoked', appId: grant.appId, environment, target: grant.id, told: { userId } })
      }
      return revoked.map(({ id }) => id)
    })
    total += ended.length
    if (ended.length < atOnce) return total
    after = ended.reduce((latest, id) => (id > latest ? id : latest), after)
  }
}
