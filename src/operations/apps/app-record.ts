// An app as members and operators see it, and the ways to find one.

import type { App, Client, Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import type { MemberRole } from '../../domain/member.ts'
import { pick } from '../../domain/pick.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import { accessTo, type AppStanding } from '../acting-as.ts'
import { badInput } from '../decide.ts'
import type { Platform } from '../platform.ts'

/** An app as its members and operators see it. */
export type AppRecord = Awaited<ReturnType<typeof appRecord>>

/** The record of a row, with the client IDs of the app. */
export const appRecord = async (q: Queries, app: App) => {
  const clients = await q.apps.clientsOf(app.id)
  return {
    ...pick(app, 'id', 'slug', 'name', 'status', 'publisher', 'isListed'),
    scopes: parseStoredScope(app.scopes),
    /** Restricted scopes that it may register. */
    givenScopes: parseStoredScope(app.givenScopes),
    ownerId: app.ownerId,
    clientIds: {
      development: clientIn(clients, 'development').id,
      production: clientIn(clients, 'production').id,
    },
    /** Null when the app is not deleted. */
    ...pick(app, 'deletedAt', 'createdAt', 'updatedAt'),
  }
}

/** The client of an app in one environment. Every app is created with one in each. */
export const clientOfApp = async (q: Queries, appId: string, environment: Environment): Promise<Client> =>
  clientIn(await q.apps.clientsOf(appId), environment)

const clientIn = (clients: readonly Client[], environment: Environment): Client => {
  const client = clients.find((candidate) => candidate.environment === environment)
  if (client === undefined) throw new Error('an app has no client in one of its environments')
  return client
}

/**
 * The app with this slug or ID. A deleted app is refused: the only change that it allows is to undelete it.
 * @throws invalid_request when there is none, or it is deleted
 */
export const findApp = async (q: Queries, slugOrId: string): Promise<App> => {
  const app = await findAnyApp(q, slugOrId)
  if (app.deletedAt !== null) throw badInput('app', isDeleted)
  return app
}

/** The app with this slug or ID, deleted or not. No slug looks like an ID, which has an underscore. @throws invalid_request when there is none */
export const findAnyApp = async (q: Queries, slugOrId: string): Promise<App> => {
  const app = slugOrId.startsWith('app_') ? await q.apps.byId(slugOrId) : await q.apps.bySlug(slugOrId)
  if (app === null) throw badInput('app', 'There is no app with this slug or ID.')
  return app
}

const isDeleted = 'This app is deleted. To bring it back, run: app-platform app undelete <slug>.'

/** An app as its pages show it. */
export type OwnedApp = AppRecord & {
  readonly developmentVersionId: App['developmentVersionId']
  readonly secretsRollBack: boolean
  /** The role of who looks at it. Operators have that of an owner. */
  readonly role: MemberRole
}

/**
 * The app with this slug, as far as it exists for this user: for members, and as an operator unless it is deleted.
 * @throws route_not_found otherwise, as for an app that does not exist
 */
export const ownedApp = async (
  platform: Platform,
  userId: string,
  slug: string,
  as: AppStanding = 'member',
): Promise<OwnedApp> => {
  const q = platform.database.queries
  const found = await accessTo(q, slug, userId, as)
  if (found === null) throw refuse('route_not_found')
  const { app, role } = found
  return { ...(await appRecord(q, app)), ...pick(app, 'developmentVersionId', 'secretsRollBack'), role }
}

/** Whether this person may test an app: install its development head on a website or store of their own. */
export const mayTest = async (q: Queries, app: App, userId: string): Promise<boolean> =>
  app.ownerId === userId || (await q.appMembers.roleOf(app.id, userId)) !== null

/** The ID of the account that owns an app; null for an app that does not exist. */
export const ownerOf = async (platform: Platform, appId: string): Promise<string | null> =>
  (await platform.database.queries.apps.byId(appId))?.ownerId ?? null
