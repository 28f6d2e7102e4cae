import type { App, AppOrder, AppQuestion, Counted, Queries } from '../../../db/database.ts'
import { canBeFound, emptyPage, type ListPage, none, type PageRequest, searchPage, startOf } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type AppRecord, appRecord, clientOfApp, findAnyApp, type OwnedApp } from './app-record.ts'
import { refuse } from '../../domain/errors.ts'
import { shownIcon } from '../../domain/app-icon.ts'
import { appFactsIn } from '../../domain/manifest.ts'
import { storedJson } from '../stored-json.ts'
import { listLiveCredentials } from '../credentials/credentials.ts'
import { redirectUrisOf } from '../redirect-uris.ts'
import { userSummary } from '../users/find-user.ts'

/** Every app, by slug. */
export const listApps = async (platform: Platform): Promise<AppRecord[]> => {
  const q = platform.database.queries
  const records: AppRecord[] = []
  for (const app of await q.apps.list()) records.push(await appRecord(q, app))
  return records
}

/** The apps that a user owns or is a member of, by slug. `live` and `developmentHead` are version names, null when there is none. */
export const listOwnApps = async ({ database: { queries: q } }: Platform, userId: string) => {
  const roles = await q.appMembers.rolesOf(userId)
  return (await q.apps.ofPerson(userId)).map(
    ({ app: { id, slug, name, status, createdAt, ownerId }, live, iconSha256, developmentHead }) => ({
      id,
      slug,
      name,
      status,
      icon: shownIcon({ status, iconSha256 }),
      createdAt,
      live,
      developmentHead,
      role: ownerId === userId ? 'owner' : (roles.get(id) ?? 'developer'),
      /** Whether the app belongs to this account, and counts for its quota. */
      isPublisher: ownerId === userId,
    }),
  )
}

/** Whether a person owns or is a member of an app. */
export const worksOnApps = async ({ database }: Platform, userId: string): Promise<boolean> =>
  await database.queries.appMembers.hasAny(userId)

/** An app that a member can switch to. */
export type OtherApp = Pick<App, 'id' | 'slug' | 'name'>

/** As many as a menu can hold. */
const otherApps = 10

/** The user's other apps, the last changed first; not all if there are many. */
export const listOtherApps = async (platform: Platform, userId: string, slug: string): Promise<OtherApp[]> =>
  (await platform.database.queries.apps.ofPerson(userId))
    .map(({ app }) => app)
    .filter((app) => app.slug !== slug)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, otherApps)
    .map(({ id, slug, name }) => ({ id, slug, name }))

/** The user's apps by slug, the one that they chose or else the first, and its client ID in development; null for a user without apps. */
export const listGuideApps = async ({ database: { queries: q } }: Platform, userId: string, slug: string) => {
  const all = (await q.apps.ofPerson(userId)).map(({ app }) => app)
  const chosen = all.find((app) => app.slug === slug) ?? all[0]
  return chosen === undefined ? null : { all, chosen, clientId: (await clientOfApp(q, chosen.id, 'development')).id }
}

export type GuideApps = NonNullable<Awaited<ReturnType<typeof listGuideApps>>>

/** An app in the list of its owner. */
export type OwnAppSummary = Awaited<ReturnType<typeof listOwnApps>>[number]

/** Apps that match, in this order. */
export const searchApps = async (
  { database: { queries: q } }: Platform,
  question: AppQuestion,
  by: AppOrder,
  page: PageRequest,
): Promise<ListPage<FoundApp>> => {
  if (!canBeFound(question.part)) return emptyPage
  const [first, positionOf] =
    by === 'slug' ? ['', ({ slug }: FoundApp) => slug] : [startOf(by), ({ id }: FoundApp) => id]
  return await searchPage(page, first, (window) => q.apps.search(question, by, window), positionOf)
}

/** An app in the list of operators. */
export type FoundApp = Awaited<ReturnType<Queries['apps']['search']>>['found'][number]

/** How many apps match. */
export const countApps = async ({ database }: Platform, question: AppQuestion): Promise<Counted> =>
  canBeFound(question.part) ? await database.queries.apps.countFound(question) : none

/** What both overviews show: the live version, the newest submitted one, and counts of installs. */
const distributionOf = async (q: Queries, appId: string) => {
  const newest = async (status: 'active' | 'submitted') =>
    (await q.versions.summaries(appId, { status }, Number.MAX_SAFE_INTEGER, 1))[0] ?? null
  return {
    live: await newest('active'),
    submitted: await newest('submitted'),
    installs: await q.installs.countsOfApp(appId),
  }
}

/** What the console shows a developer about an app. */
export type AppOverview = Awaited<ReturnType<typeof appOverview>>

/** Reads the overview of an app that `ownedApp` found. */
export const appOverview = async (platform: Platform, app: OwnedApp) => {
  const q = platform.database.queries
  const headId = app.developmentVersionId
  return {
    ...(await redirectUrisOf(q, app.id)),
    ...(await distributionOf(q, app.id)),
    /** How many webhook endpoints there are. */
    webhooks: (await q.webhookEndpoints.listOfApp(app.id)).length,
    liveSecrets: await listLiveCredentials(platform, app.clientIds),
    /** Epoch milliseconds; null when no secret was ever used. */
    lastUsedAt: await q.credentials.lastUseOfApp(app.id),
    developmentHead: headId === null ? null : await q.versions.summary(app.id, headId),
  }
}

/** What the desk shows an operator about an app. */
export type InspectedApp = Awaited<ReturnType<typeof inspectApp>>

/** @throws route_not_found for an unknown slug */
export const inspectApp = async (platform: Platform, slug: string) => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  if (app === null) throw refuse('route_not_found')
  const owner = await q.users.byId(app.ownerId)
  if (owner === null) throw new Error('an app has no owner')
  return {
    ...(await appRecord(q, app)),
    ...(await distributionOf(q, app.id)),
    owner: userSummary(owner),
  }
}

/** What the live version says of an app, for its settings. */
export type LiveAbout = NonNullable<Awaited<ReturnType<typeof readAbout>>>

/** Null if nothing is live. */
export const readAbout = async ({ database }: Platform, appId: string) => {
  const live = await database.queries.versions.active(appId)
  return live === null ? null : { version: live.version, facts: appFactsIn(storedJson(live.manifest)) }
}

/** Whether users get a version of the app. */
export const isLive = async ({ database }: Platform, appId: string): Promise<boolean> =>
  await database.queries.versions.hasActive(appId)

/** What a command shows about an app. @throws invalid_request for an unknown slug */
export const showApp = async (platform: Platform, slug: string) => {
  const found = await findAnyApp(platform.database.queries, slug)
  const { owner, live, submitted, ...app } = await inspectApp(platform, found.slug)
  return {
    ...app,
    owner: owner.email,
    liveVersion: live?.version ?? null,
    submittedVersion: submitted?.version ?? null,
  }
}
