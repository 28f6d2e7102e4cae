import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { type ResourceKind, resourceKinds } from '../../domain/resource.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import { type Page, pageOf } from '../page.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'
import { currentVersion } from '../versions/current-version.ts'
import type { OfferedApp } from './list-offered-apps.ts'

/** A website or store that an app can be installed on. */
type InstallPlace = { readonly kind: ResourceKind; readonly slug: string; readonly name: string }
/** What an owner has to know to decide, and where the app can go. */
export type InstallQuestion = {
  readonly app: OfferedApp
  readonly environment: Environment
  readonly places: Page<InstallPlace>
}

const placesPerPage = 500

/**
 * An app as it can be installed by the caller: its live version, or for its own developer the development head. Null
 * when there is nothing to install. The caller's places come in pages, after the cursor.
 */
export const prepareInstall = async (
  platform: Platform,
  caller: SessionCaller,
  slug: string,
  environment: Environment,
  cursor: string | null,
): Promise<InstallQuestion | null> => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  if (app === null || app.status !== 'active') return null
  if (environment === 'development' && app.ownerId !== caller.user.id) return null
  const version = await currentVersion(q, app, environment)
  if (version === null) return null
  const publisher = (await q.users.byId(app.ownerId))?.name ?? ''
  const { name } = app
  return {
    app: { slug, name, publisher, version: version.version, scopes: parseStoredScope(version.scopes) },
    environment,
    places: await placesAfter(q, caller.user.id, cursor),
  }
}

/** Websites, then stores, each by slug. A position is a kind and a slug. */
const placesAfter = async (q: Queries, userId: string, cursor: string | null): Promise<Page<InstallPlace>> => {
  const [kindBefore, slugBefore = ''] = cursor?.split('/') ?? []
  const start = resourceKinds.findIndex((kind) => kind === kindBefore)
  const places: InstallPlace[] = []
  for (const [index, kind] of resourceKinds.entries()) {
    if (index < start) continue
    const after = index === start ? slugBefore : ''
    const found = await q.resources.list(userId, kind, after, placesPerPage + 1 - places.length)
    places.push(...found.map(({ slug, name }) => ({ kind, slug, name })))
  }
  return pageOf(places, placesPerPage, ({ kind, slug }) => `${kind}/${slug}`)
}
