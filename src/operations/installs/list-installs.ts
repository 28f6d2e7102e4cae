import type { Queries } from '../../../db/database.ts'
import { findApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

/** An install with the slug of its app and the address of its user. */
type ListedInstall = InstallRecord & { readonly app: string; readonly user: string }

/**
 * Every install there ever was, of one app or of all (null), oldest first.
 * @throws invalid_request for an unknown slug
 */
export const listInstalls = async (platform: Platform, slug: string | null): Promise<ListedInstall[]> => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findApp(q, slug)).id
  return (await q.installs.list(appId)).map(listed)
}

type Row = Awaited<ReturnType<Queries['installs']['list']>>[number]

const listed = ({ install, kind, resourceSlug, app, user }: Row): ListedInstall => ({
  ...installRecord(install, kind, resourceSlug),
  app,
  user,
})
