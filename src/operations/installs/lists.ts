// The lists of installs for the command line, operators, developers and owners, and the apps that can be installed.

import type { Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import { findAnyApp, findApp } from '../apps/app-record.ts'
import type { SessionCaller } from '../authenticate.ts'
import { newestFirst, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { installRecord } from './install-record.ts'

type Rows<List extends keyof Queries['installs']> = Awaited<ReturnType<Queries['installs'][List]>>

/**
 * All installs, including ended ones, of one app or of every app (null), oldest first.
 * @throws invalid_request for an unknown slug
 */
export const listInstalls = async (platform: Platform, slug: string | null) => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findApp(q, slug)).id
  return (await q.installs.list(appId)).map(listed)
}

/** An install with the slug of its app and the address of its user. */
const listed = ({ install, kind, resourceSlug, app, user }: Rows<'list'>[number]) => ({
  ...installRecord(install, kind, resourceSlug),
  app,
  user,
})

/** A listed install with the name of its app. */
export type DescribedInstall = ReturnType<typeof describedInstall>

const describedInstall = (row: Rows<'pending'>[number]) => ({ ...listed(row), appName: row.appName })

/** One install. @throws route_not_found for an unknown ID */
export const describeInstall = async (platform: Platform, id: string): Promise<DescribedInstall> => {
  const row = await platform.database.queries.installs.describe(id)
  if (row === null) throw refuse('route_not_found')
  return describedInstall(row)
}

/** Installs of every app that wait for the decision of an operator, oldest first. */
export const listPendingInstalls = async (platform: Platform, { limit, cursor }: PageRequest) => {
  const rows = await platform.database.queries.installs.pending(cursor ?? '', limit + 1)
  return pageOf(rows.map(describedInstall), limit, ({ id }) => id)
}

/**
 * Installs that were decided on, of one app or of every app (null), newest first.
 * @throws invalid_request for an unknown slug
 */
export const listDecidedInstalls = async (platform: Platform, slug: string | null, page: PageRequest) => {
  const q = platform.database.queries
  const appId = slug === null ? null : (await findAnyApp(q, slug)).id
  return await newestFirst(page, async (before, rows) =>
    (await q.installs.decided(appId, before, rows)).map(describedInstall),
  )
}

/** An install as the app's developer sees it: nothing about its owner, and only the kind of the website or store. */
export type AppInstall = Rows<'pageOfApp'>[number]

/** One app's installs, newest first. */
export const listAppInstalls = async ({ database }: Platform, appId: string, page: PageRequest) =>
  await newestFirst(page, (before, rows) => database.queries.installs.pageOfApp(appId, before, rows))

/** The caller's installs, including ended ones, newest first. */
export const listOwnInstalls = async ({ database }: Platform, { user }: SessionCaller, page: PageRequest) =>
  await newestFirst(page, async (before, rows) =>
    (await database.queries.installs.pageOfUser(user.id, before, rows)).map(ownInstall),
  )

/** An install as its owner sees it. */
export type OwnInstall = ReturnType<typeof ownInstall>

const ownInstall = (row: Rows<'pageOfUser'>[number]) => {
  const asked = row.install.environment === 'production' ? row.liveScopes : row.headScopes
  return {
    ...installRecord(row.install, row.kind, row.resourceSlug),
    app: row.app,
    appName: row.appName,
    appStatus: row.appStatus,
    publisher: row.publisher,
    resourceName: row.resourceName,
    /** The scopes that the current version asks for; null when there is no version. */
    asked: asked === null ? null : parseStoredScope(asked),
  }
}

/** Active apps that have a live version, by slug. */
export const listOfferedApps = async (platform: Platform, { limit, cursor }: PageRequest) => {
  const rows = await platform.database.queries.apps.offered(cursor ?? '', limit + 1)
  return pageOf(rows.map(offeredApp), limit, ({ slug }) => slug)
}

/** An app that can be installed, with its publisher and the name and scopes of its live version. */
export type OfferedApp = ReturnType<typeof offeredApp>

type OfferedRow = Awaited<ReturnType<Queries['apps']['offered']>>[number]

const offeredApp = ({ scopes, ...app }: OfferedRow) => ({ ...app, scopes: parseStoredScope(scopes) })
