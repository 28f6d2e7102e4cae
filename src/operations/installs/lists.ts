// The lists of installs for the command line, operators, developers and owners, and the apps that can be installed.

import type { Install, Queries } from '../../../db/database.ts'
import type { AppStatus } from '../../domain/app.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { findAnyApp, findApp } from '../apps/app-record.ts'
import type { SessionCaller } from '../authenticate.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

/** An install with the slug of its app and the address of its user. */
type ListedInstall = InstallRecord & { readonly app: string; readonly user: string }

/**
 * All installs, including ended ones, of one app or of every app (null), oldest first.
 * @throws invalid_request for an unknown slug
 */
export const listInstalls = async (platform: Platform, slug: string | null): Promise<ListedInstall[]> => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findApp(q, slug)).id
  return (await q.installs.list(appId)).map(listed)
}

type ListedRow = Awaited<ReturnType<Queries['installs']['list']>>[number]

const listed = ({ install, kind, resourceSlug, app, user }: ListedRow): ListedInstall => ({
  ...installRecord(install, kind, resourceSlug),
  app,
  user,
})

/** A listed install with the name of its app. */
export type DescribedInstall = ListedInstall & { readonly appName: string }

type DescribedRow = Awaited<ReturnType<Queries['installs']['pending']>>[number]

const describedInstall = (row: DescribedRow): DescribedInstall => ({ ...listed(row), appName: row.appName })

/** Installs of every app that wait for the decision of an operator, oldest first. */
export const listPendingInstalls = async (
  platform: Platform,
  { limit, cursor }: PageRequest,
): Promise<Page<DescribedInstall>> => {
  const rows = await platform.database.queries.installs.pending(cursor ?? '', limit + 1)
  return pageOf(rows.map(describedInstall), limit, ({ id }) => id)
}

/**
 * Installs that were decided on, of one app or of every app (null), newest first.
 * @throws invalid_request for an unknown slug
 */
export const listDecidedInstalls = async (
  platform: Platform,
  slug: string | null,
  { limit, cursor }: PageRequest,
): Promise<Page<DescribedInstall>> => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findAnyApp(q, slug)).id
  const rows = await q.installs.decided(appId, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows.map(describedInstall), limit, ({ id }) => id)
}

/** An install as the app's developer sees it: nothing about its owner, and only the kind of the website or store. */
export type AppInstall = Pick<Install, 'id' | 'approval' | 'state' | 'createdAt' | 'updatedAt'> & {
  readonly kind: ResourceKind
}

/** One app's installs, newest first. */
export const listAppInstalls = async (
  platform: Platform,
  appId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<AppInstall>> => {
  const rows = await platform.database.queries.installs.pageOfApp(appId, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows, limit, ({ id }) => id)
}

/** An install as its owner sees it. */
export type OwnInstall = InstallRecord & {
  readonly appName: string
  readonly app: string
  readonly appStatus: AppStatus
  readonly publisher: string
  readonly resourceName: string
  /** The scopes that the current version asks for; null when there is no version. */
  readonly asked: readonly ScopeName[] | null
}

type UserRow = Awaited<ReturnType<Queries['installs']['pageOfUser']>>[number]

/** The caller's installs, including ended ones, newest first. */
export const listOwnInstalls = async (
  platform: Platform,
  caller: SessionCaller,
  { limit, cursor }: PageRequest,
): Promise<Page<OwnInstall>> => {
  const rows = await platform.database.queries.installs.pageOfUser(caller.user.id, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows.map(ownInstall), limit, ({ id }) => id)
}

const ownInstall = (row: UserRow): OwnInstall => {
  const asked = row.install.environment === 'production' ? row.liveScopes : row.headScopes
  return {
    ...installRecord(row.install, row.kind, row.resourceSlug),
    app: row.app,
    appName: row.appName,
    appStatus: row.appStatus,
    publisher: row.publisher,
    resourceName: row.resourceName,
    asked: asked === null ? null : parseStoredScope(asked),
  }
}

/** An app that can be installed, with its publisher and the scopes of its live version. */
export type OfferedApp = {
  readonly slug: string
  readonly name: string
  readonly publisher: string
  readonly version: string
  readonly scopes: readonly ScopeName[]
}

/** Active apps that have a live version, by slug. */
export const listOfferedApps = async (
  platform: Platform,
  { limit, cursor }: PageRequest,
): Promise<Page<OfferedApp>> => {
  const rows = await platform.database.queries.apps.offered(cursor ?? '', limit + 1)
  return pageOf(rows.map(offeredApp), limit, ({ slug }) => slug)
}

type OfferedRow = Awaited<ReturnType<Queries['apps']['offered']>>[number]

const offeredApp = ({ slug, name, publisher, version, scopes }: OfferedRow): OfferedApp => ({
  slug,
  name,
  publisher,
  version,
  scopes: parseStoredScope(scopes),
})
