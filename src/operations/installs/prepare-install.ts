import type { Environment } from '../../domain/environment.ts'
import { type ResourceKind, resourceKinds } from '../../domain/resource.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../tokens/authenticate-session.ts'
import type { OfferedApp } from './list-offered-apps.ts'
import { openedVersion } from './opened-version.ts'

/** A website or store that an app can be installed on. */
export type InstallPlace = { readonly kind: ResourceKind; readonly slug: string; readonly name: string }
/** What an owner has to know to decide, and where the app can go. */
export type InstallQuestion = {
  readonly app: OfferedApp
  readonly environment: Environment
  readonly places: readonly InstallPlace[]
}

/** Of each kind; who has more installs on one of the others from the command line. */
const mostPlaces = 500

/**
 * An app as it can be installed by the caller: its live version, or for its own developer the development head. Null
 * when there is nothing to install.
 */
export const prepareInstall = async (
  platform: Platform,
  caller: SessionCaller,
  slug: string,
  environment: Environment,
): Promise<InstallQuestion | null> => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  if (app === null || app.status !== 'active') return null
  if (environment === 'development' && app.ownerId !== caller.user.id) return null
  const version = await openedVersion(q, app, environment)
  if (version === null) return null
  const places: InstallPlace[] = []
  for (const kind of resourceKinds) {
    const found = await q.resources.list(caller.user.id, kind, '', mostPlaces)
    places.push(...found.map(({ slug: place, name }) => ({ kind, slug: place, name })))
  }
  const publisher = (await q.users.byId(app.ownerId))?.name ?? ''
  const { name } = app
  return {
    app: { slug, name, publisher, version: version.version, scopes: parseStoredScope(version.scopes) },
    environment,
    places,
  }
}
