// The lists of installs for the command line, operators, developers and owners, and the apps that can be installed.
import type {
  AppInstallFilter,
  AskedByApp,
  InstallFilter,
  OwnStatus,
  Queries,
  SearchWindow,
  Install,
} from '../../../db/database.ts'
import { shownIcon } from '../../domain/app-icon.ts'
import { pick } from '../../domain/pick.ts'
import { refuse } from '../../domain/errors.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import { environmentOfClient, uuidOfRecordId } from '../../domain/identifier.ts'
import { findAnyApp, findApp } from '../apps/app-record.ts'
import type { AppCaller, SessionCaller, UserCaller } from '../authenticate.ts'
import { slugFormFault } from '../../domain/name.ts'
import { badInput, refuseFault } from '../decide.ts'
import {
  canBeFound,
  emptyPage,
  listPage,
  type ListPage,
  type PageRequest,
  searchPage,
  startOf,
  type TimeOrder,
  beyondEveryId,
  pageOf,
  strangeCursor,
} from '../page.ts'
import type { Platform, Trace } from '../platform.ts'
import { findUser } from '../users/find-user.ts'
import { refuseStrangeId } from '../users/users.ts'
import { installRecord, moveInstall } from './installs.ts'
import { installSteps, isInstallLive, type InstallStep } from '../../domain/install.ts'
import { andThen } from '../../domain/awaitable.ts'
import { scopeToRead } from '../resources/resources.ts'
import type { Actor } from '../audit/event.ts'

type Installs = Queries['installs']
type Rows<List extends 'list' | 'pageOfUser'> = Awaited<ReturnType<Installs[List]>>
type Found<Search extends 'search' | 'searchOfApp'> = Awaited<ReturnType<Installs[Search]>>['found'][number]

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

/** A listed install with the name and the icon of its app. */
export type DescribedInstall = ReturnType<typeof describedInstall>

const describedInstall = (row: Found<'search'>) => ({
  ...listed(row),
  appName: row.appName,
  icon: shownIcon({ status: row.appStatus, iconSha256: row.iconSha256 }),
})

/** One install; null for an unknown ID. */
export const findInstall = async ({ database }: Platform, id: string): Promise<DescribedInstall | null> => {
  const row = await database.queries.installs.describe(id)
  return row === null ? null : describedInstall(row)
}

/** The same. @throws route_not_found for an unknown ID */
export const describeInstall = async (platform: Platform, id: string): Promise<DescribedInstall> => {
  const found = await findInstall(platform, id)
  if (found === null) throw refuse('route_not_found')
  return found
}

/** Which installs an operator asks for: as in the store, with the slug of an app and the address of a user. */
export type InstallSearch = Pick<InstallFilter, 'status' | 'kind' | 'part'> & {
  /** Empty for every app, and for every user. */
  readonly app: string
  readonly user: string
}

/**
 * Installs that match, in the order of their requests.
 * @throws invalid_request for an unknown slug or address
 */
export const searchInstalls = async (
  { database: { queries: q } }: Platform,
  search: InstallSearch,
  order: TimeOrder,
  page: PageRequest,
): Promise<ListPage<DescribedInstall>> => {
  const question = await questionOf(q, search)
  if (!canBeFound(question.part)) return emptyPage
  const look = (window: SearchWindow) => q.installs.search(question, order, window)
  const found = await searchPage(page, startOf(order), look, ({ install }) => install.id)
  return { ...found, data: found.data.map(describedInstall) }
}

/** How many installs match in each state, whatever the status that is asked for. @throws as `searchInstalls` */
export const countInstalls = async ({ database: { queries: q } }: Platform, search: InstallSearch) => {
  const question = await questionOf(q, search)
  return canBeFound(question.part) ? await q.installs.countStates(question) : { states: [], exact: true }
}

const questionOf = async (q: Queries, { app, user, ...search }: InstallSearch): Promise<InstallFilter> => {
  const found = user === '' ? null : await findUser(q, user)
  if (user !== '' && found === null) throw badInput('user', 'There is no user with this address.')
  return {
    ...search,
    environment: null,
    appId: app === '' ? null : (await findAnyApp(q, app)).id,
    userId: found?.id ?? null,
  }
}

/** An install as the app's developer sees it: nothing about its owner, and only the kind of the website or store. */
export type AppInstall = Found<'searchOfApp'>

/** One app's installs that match. */
export const listAppInstalls = async (
  { database: { queries: q } }: Platform,
  appId: string,
  question: AppInstallFilter,
  page: PageRequest,
  order: TimeOrder = 'newest',
) =>
  await searchPage(
    page,
    startOf(order),
    (window) => q.installs.searchOfApp(appId, question, order, window),
    ({ id }) => id,
  )

/** How many installs of an app there are in each state among those that match but for their status. */
export const countAppInstalls = async ({ database }: Platform, appId: string, question: AppInstallFilter) =>
  await database.queries.installs.countStates({ ...question, appId })

/** The caller's installs, including ended ones. */
export const listOwnInstalls = async (
  { database }: Platform,
  { user }: SessionCaller,
  page: PageRequest,
  status: OwnStatus | null = null,
  order: TimeOrder = 'newest',
) =>
  await listPage(
    page,
    (cursor) => cursor ?? startOf(order),
    async (place, rows) =>
      (await database.queries.installs.pageOfUser(user.id, place, rows, status, order)).map(ownInstall),
    ({ id }) => id,
  )

/** How many of the caller's installs have ended; at most this many. */
export const countEndedInstalls = async ({ database }: Platform, { user }: SessionCaller, most: number) =>
  await database.queries.installs.countEndedOfUser(user.id, most)

/** An install as its owner sees it. */
export type OwnInstall = ReturnType<typeof ownInstall>

const ownInstall = (row: Rows<'pageOfUser'>[number]) => {
  const isProduction = row.install.environment === 'production'
  const asked = isProduction ? row.liveScopes : row.headScopes
  return {
    ...installRecord(row.install, row.kind, row.resourceSlug),
    ...pick(row, 'app', 'appName', 'appStatus', 'publisher', 'resourceName'),
    icon: shownIcon({ status: row.appStatus, iconSha256: row.iconSha256 }),
    /** The scopes that the current version asks for; null when there is no version. */
    asked: asked === null ? null : parseStoredScope(asked),
    /** Whether the app has a page that can be opened here. */
    isFramed: (isProduction ? row.liveIsFramed : row.headIsFramed) === true,
  }
}

/** The installs of a user that wait or are in use. */
export const listOpenInstalls = async ({ database }: Platform, userId: string) =>
  await database.queries.installs.openOfUser(userId)

// Installs as the app sees them (contract section 3).

/** Which of its installs an app asks for; null matches everything. */
type ToldQuestion = Pick<AskedByApp, 'kind' | 'state' | 'externalId'>

/**
 * The installs of the calling app in the environment of its token, oldest first: by a user's token those of the user, by the app's
 * own token those of everybody that an operator has approved.
 * @throws invalid_request for a cursor that this list did not return, and for what cannot be an ID
 */
export const listInstallsForApp = (
  { database }: Platform,
  caller: AppCaller | UserCaller,
  question: ToldQuestion,
  page: PageRequest,
) => {
  if (page.cursor !== null && !isInstallId(page.cursor)) throw strangeCursor()
  refuseStrangeId('resourceId', question.externalId)
  // What an app is not told of ended installs, it cannot ask for either.
  const state = caller.kind === 'app' && question.externalId !== null ? 'active' : question.state
  if (question.state !== null && state !== question.state) return { data: [], nextCursor: null }
  const asked = { ...askedBy(caller), ...question, state, id: null }
  return andThen(database.queries.installs.pageForApp(asked, page.cursor ?? '', page.limit + 1), (rows) =>
    pageOf(rows.map(shownTo(caller)), page.limit, ({ id }) => id),
  )
}

/** One of these installs. @throws install_not_found */
export const findInstallForApp = async ({ database }: Platform, caller: AppCaller | UserCaller, id: string) => {
  const asked = { ...askedBy(caller), id, kind: null, state: null, externalId: null }
  const [row] = isInstallId(id) ? await database.queries.installs.pageForApp(asked, '', 1) : []
  if (row === undefined) throw refuse('install_not_found', { param: 'id' })
  return shownTo(caller)(row)
}

const isInstallId = (text: string): boolean => uuidOfRecordId('ins_', text) !== null

const askedBy = (caller: AppCaller | UserCaller) =>
  caller.kind === 'app'
    ? { appId: caller.app.id, userId: null, environment: caller.environment }
    : { appId: caller.appId, userId: caller.user.id, environment: environmentOfClient(caller.clientId) }

/** An install as its app sees it. */
export type ToldInstall = ReturnType<ReturnType<typeof shownTo>>

/**
 * Names of websites and stores are for live installs whose owner let the app read them, with a token that may. Of an ended install the
 * app's own token learns only when it ended.
 */
const shownTo = (caller: AppCaller | UserCaller) => {
  const allowed = caller.kind === 'app' ? parseStoredScope(caller.scope) : caller.scopes
  return ({ install, kind, externalId, name, slug }: Awaited<ReturnType<Installs['pageForApp']>>[number]) => {
    const isLive = isInstallLive(install)
    const isTold = isLive || caller.kind === 'user'
    const agreedTo = parseStoredScope(install.scopes)
    const isNamed = isLive && allowed.includes(scopeToRead[kind]) && agreedTo.includes(scopeToRead[kind])
    return {
      id: install.id,
      kind,
      resource: isTold ? { id: externalId, name: isNamed ? name : null, slug: isNamed ? slug : null } : null,
      userId: isTold ? install.userId : null,
      ...pick(install, 'approval', 'state', 'createdAt', 'updatedAt'),
      scopes: isTold ? agreedTo : [],
    }
  }
}

// Installs as the builder sees and decides them.

/** Null matches everything. `app` is a slug. */
type Asked = {
  readonly approval: Install['approval'] | null
  readonly state: Install['state'] | null
  readonly app: string | null
  readonly userExternalId: string | null
}

/** Installs of apps that are not deleted, newest first. @throws invalid_request for what can be no ID or slug */
export const listBuilderInstalls = async ({ database }: Platform, asked: Asked, page: PageRequest) => {
  const q = database.queries
  refuseStrangeId('userExternalId', asked.userExternalId)
  if (asked.app !== null) refuseFault('app', slugFormFault(asked.app))
  const user = asked.userExternalId === null ? null : await q.users.byExternalId(asked.userExternalId)
  if (asked.userExternalId !== null && user === null) return { data: [], nextCursor: null }
  const app = asked.app === null ? null : await q.apps.bySlug(asked.app)
  if (asked.app !== null && app === null) return { data: [], nextCursor: null }
  const of = { approval: asked.approval, state: asked.state, userId: user?.id ?? null, appId: app?.id ?? null }
  const rows = await q.builderInstalls.forBuilder(of, page.cursor ?? beyondEveryId, page.limit + 1)
  return pageOf(rows.map(builderInstall), page.limit, ({ id }) => id)
}

type Row = Awaited<ReturnType<Platform['database']['queries']['builderInstalls']['forBuilder']>>[number]

/** An install as the builder sees it. */
type BuilderInstall = ReturnType<typeof builderInstall>

const builderInstall = ({ install, app, ...place }: Row) => ({
  id: install.id,
  appId: install.appId,
  app: app.slug,
  appName: app.name,
  environment: install.environment,
  ...place,
  scope: install.scopes,
  ...pick(install, 'approval', 'state', 'createdAt', 'updatedAt'),
})

/**
 * Takes a step of an install for the builder.
 * @throws record_not_found, version_not_eligible when the install is not in the state in which the step starts
 */
export const moveBuilderInstall = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { id, step }: { readonly id: string; readonly step: Exclude<InstallStep, 'withdraw'> },
): Promise<BuilderInstall> => {
  const { installs, builderInstalls } = platform.database.queries
  const before = await installs.find(id)
  if (before === null) throw refuse('record_not_found', { param: 'id' })
  if (!isTaken(before.install, step)) {
    const { from } = installSteps[step]
    const { approval, state } = before.install
    if (approval !== from.approval || state !== from.state)
      throw refuse('version_not_eligible', { message: 'The state of the install does not allow this.' })
    await moveInstall(platform, trace, actor, { id, step })
  }
  const [row] = await builderInstalls.forBuilder({ id }, beyondEveryId, 1)
  if (row === undefined) throw refuse('record_not_found', { param: 'id' })
  return builderInstall(row)
}

/** A repeated call changes nothing. */
const isTaken = ({ approval, state }: Install, step: 'approve' | 'reject' | 'deactivate'): boolean => {
  switch (step) {
    case 'approve':
      return approval === 'approved' && state === 'active'
    case 'reject':
      return approval === 'rejected'
    default:
      return approval === 'approved' && state === 'inactive'
  }
}
