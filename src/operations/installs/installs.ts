import type { Install, App, Queries, Resource, User } from '../../../db/database.ts'
import { refuse, PlatformError } from '../../domain/errors.ts'
import { pick } from '../../domain/pick.ts'
import { shownIcon } from '../../domain/app-icon.ts'
import { type ResourceKind, resourceKinds } from '../../domain/resource.ts'
import { parseStoredScope, formatScope, type ScopeName } from '../../domain/scope.ts'
import type { Rule } from '../acting-as.ts'
import type { Environment } from '../../domain/app.ts'
import { environmentOfClient, recordId } from '../../domain/identifier.ts'
import { appFactsIn } from '../../domain/manifest.ts'
import { findApp, mayTest } from '../apps/app-record.ts'
import { system } from '../audit/event.ts'
import type { EmbeddedCaller, SessionCaller, UserCaller } from '../authenticate.ts'
import { badInput, decide, type Operation, type OpenChange } from '../decide.ts'
import { pageOf } from '../page.ts'
import type { Platform } from '../platform.ts'
import { storedJson } from '../stored-json.ts'
import type { ToldFacts } from '../../domain/webhook-event.ts'
import { personOf } from '../users/find-user.ts'
import { currentVersion } from '../versions/version-record.ts'
import {
  type EndingStep,
  endingStep,
  installPath,
  type InstallStep,
  installSteps,
  isApprovedAtOnce,
  resourceKindsFor,
} from '../../domain/install.ts'

/** An install as operators and owners see it. */
export type InstallRecord = ReturnType<typeof installRecord>

/** The record of an install and of the website or store that it is on. The scopes are those that its owner agreed to. */
export const installRecord = (row: Install, kind: ResourceKind, resource: string) => ({
  ...pick(row, 'id', 'appId', 'userId', 'environment'),
  scopes: parseStoredScope(row.scopes),
  kind,
  resource,
  ...pick(row, 'approval', 'state', 'createdAt', 'updatedAt'),
})

/** What events say of the place of an install and its owner. */
export const toldOf = (userId: string, { kind, externalId }: Pick<Resource, 'kind' | 'externalId'>): ToldFacts => ({
  userId,
  kind,
  resourceId: externalId,
})

/** The install belongs to the user. For anyone else it does not exist. */
export const ownsInstall =
  (id: string): Rule =>
  async (q, userId) =>
    (await q.installs.find(id))?.install.userId === userId ? null : refuse('route_not_found')

/** What an owner sees before installing an app: what it asks for, and the places where it can be installed. */
export type InstallQuestion = NonNullable<Awaited<ReturnType<typeof prepareInstall>>>

const placesPerPage = 500

/**
 * What the caller can install of this app: its live version, or, in development, the head of an app of which they are a member. Null
 * when there is nothing to install. The caller's websites and stores come in pages, without those that have the app.
 */
export const prepareInstall = async (
  platform: Platform,
  caller: SessionCaller,
  slug: string,
  environment: Environment,
  cursor: string | null,
) => {
  const q = platform.database.queries
  const app = await q.apps.bySlug(slug)
  if (app === null || app.status !== 'active') return null
  if (environment === 'development' && !(await mayTest(q, app, caller.user.id))) return null
  const version = await currentVersion(q, app, environment)
  if (version === null) return null
  const publisher = app.publisher ?? (await q.users.byId(app.ownerId))?.name ?? ''
  const { id, name } = app
  const live = environment === 'production' ? version : await q.versions.active(id)
  const icon = shownIcon({ status: app.status, iconSha256: live?.iconSha256 ?? null })
  return {
    app: { id, slug, name, publisher, icon, version: version.version, scopes: parseStoredScope(version.scopes) },
    facts: appFactsIn(storedJson(version.manifest)),
    environment,
    ...(await placesAfter(
      q,
      { appId: app.id, userId: caller.user.id, kinds: resourceKindsFor(parseStoredScope(version.scopes)) },
      cursor,
    )),
  }
}

const placeOf = ({ kind, slug }: { readonly kind: ResourceKind; readonly slug: string }): string => `${kind}/${slug}`

/** Whether a person has websites, stores, both or neither. */
export const kindsOfPlaces = async ({ database }: Platform, userId: string): Promise<readonly ResourceKind[]> => {
  const { resources } = database.queries
  const found = await Promise.all(resourceKinds.map(async (kind) => await resources.list(userId, kind, '', 1)))
  return resourceKinds.filter((_, index) => found[index]?.length !== 0)
}

type PlacesOf = { readonly appId: string; readonly userId: string; readonly kinds: readonly ResourceKind[] }

/** Websites, then stores, each by slug. A cursor is a kind and a slug. */
const placesAfter = async (q: Queries, { appId, userId, kinds }: PlacesOf, cursor: string | null) => {
  const taken = new Set((await q.installs.openPlaces(appId, userId)).map(placeOf))
  const [kindBefore, slugBefore = ''] = cursor?.split('/') ?? []
  const start = kinds.findIndex((kind) => kind === kindBefore)
  const places = []
  for (const [index, kind] of kinds.entries()) {
    if (index < start) continue
    const after = index === start ? slugBefore : ''
    const found = await q.resources.list(userId, kind, after, placesPerPage + 1 - places.length)
    places.push(...found.map(({ slug, name }) => ({ kind, slug, name })))
  }
  const { data, nextCursor } = pageOf(places, placesPerPage, placeOf)
  return { places: { data: data.filter((place) => !taken.has(placeOf(place))), nextCursor }, installedOn: taken.size }
}

type NewInstall = ({ readonly userEmail: string } | { readonly userId: string }) & {
  readonly slug: string
  readonly kind: ResourceKind
  readonly resourceSlug: string
  /** `development` installs the development head, which only members of the app may do. The default is `production`. */
  readonly environment?: Environment
  /**
   * The scopes that the owner was shown and agreed to. An operator omits them: the install gets the scopes of the live
   * version, or none when no version is live.
   */
  readonly agreedTo?: readonly ScopeName[]
}

/**
 * Installs an app on a website or store that the user owns. The install is pending and inactive until an operator
 * approves it, unless installs are approved automatically or it is a test.
 * @throws invalid_request for an unknown app, user or resource, an install there that is pending or active, a version
 *   that asks for other scopes than those agreed to, or a test by anybody but a member
 */
export const createInstall: Operation<NewInstall, InstallRecord> = async (platform, trace, actor, input) => {
  const now = platform.clock.now()
  const id = recordId('ins_', platform.random.uuid(now))
  const environment = input.environment ?? 'production'
  const isApproved = isApprovedAtOnce(platform.installApproval, environment)
  return await decide(platform, trace, { actor, now, kind: 'guarded' }, async ({ q, record }) => {
    const app = await findApp(q, input.slug)
    const found = await personOf(q, 'userId' in input ? input : { email: input.userEmail })
    const user = found instanceof PlatformError ? found : await personOf(q, { userId: found.id }) // locked before the place
    if (user instanceof PlatformError) return badInput('user', 'There is no such user.')
    if (user.status !== 'active') return badInput('user', 'The user is disabled.')
    const scopes = await scopesOf(q, app, user, environment, input.agreedTo)
    if (scopes instanceof PlatformError) return scopes
    const resource = await q.resources.find(user.id, input.kind, input.resourceSlug)
    if (resource === null) return badInput('resource', 'This user has no such website or store.')
    // A unique index decides between two at once: the second one runs again and finds the first.
    if ((await q.installs.findOpen(app.id, resource.id)) !== null) {
      return badInput('resource', 'The app already has a pending or active install there.')
    }
    const install: Install = {
      id,
      appId: app.id,
      userId: user.id,
      resourceId: resource.id,
      environment,
      scopes,
      approval: isApproved ? 'approved' : 'pending',
      state: isApproved ? 'active' : 'inactive',
      createdAt: now,
      updatedAt: now,
    }
    await q.installs.insert(install)
    const about = { appId: app.id, environment, target: id, told: toldOf(user.id, resource) }
    await record({ ...about, action: 'install.created', detail: { scope: scopes } })
    if (isApproved) await record({ ...about, actor: system, action: 'install.approved', mail: null })
    return installRecord(install, input.kind, resource.slug)
  })
}

/** The scopes of the new install, in the form in which the store keeps them. */
const scopesOf = async (
  q: Queries,
  app: App,
  user: User,
  environment: Environment,
  agreedTo: readonly ScopeName[] | undefined,
): Promise<string | PlatformError> => {
  const isTest = environment === 'development'
  if (isTest && !(await mayTest(q, app, user.id))) return badInput('app', 'Only its developers can test an app.')
  const version = await currentVersion(q, app, environment)
  if (agreedTo === undefined) return version?.scopes ?? ''
  if (app.status !== 'active') return badInput('app', 'This app is suspended and cannot be installed now.')
  if (version === null) return badInput('app', 'This app has no version that can be installed.')
  return version.scopes === formatScope(agreedTo) ? version.scopes : badInput('scopes', askedAnew)
}

const askedAnew = 'The app now asks for something else. Review what it asks for, and decide again.'

/** The refusal of a call that needs an install, with the page on which the user can install the app, if there is something to install. */
export const installRequired = async (
  platform: Platform,
  caller: UserCaller | EmbeddedCaller,
): Promise<PlatformError> => {
  const q = platform.database.queries
  const app = await q.apps.byId(caller.appId)
  if (app === null) return refuse('install_required')
  const isTest = environmentOfClient(caller.clientId) === 'development' && (await mayTest(q, app, caller.user.id))
  const environment = isTest ? 'development' : 'production'
  if ((await currentVersion(q, app, environment)) === null) return refuse('install_required')
  return refuse('install_required', {
    details: { installUrl: platform.publicUrl + installPath(app.slug, environment) },
  })
}

/**
 * Approves, rejects, withdraws or deactivates an install. An install that ends grants no access from the next call on.
 * @throws invalid_request for an unknown ID, or when the install is not in the state in which the step starts
 */
export const moveInstall: Operation<InstallMove, InstallRecord> = async (platform, trace, actor, move) =>
  await decide(platform, trace, { actor, endsAccess: move.step !== 'approve' }, async (change) => {
    return await takeInstallStep(change, move)
  })

/**
 * Ends an install for its owner: a pending one is withdrawn, an active one is deactivated. Returns which of the two.
 * @throws version_not_eligible when it has already ended
 */
export const endInstall: Operation<string, EndingStep> = async (platform, trace, actor, id) =>
  await decide(
    platform,
    trace,
    { actor, kind: 'guarded', endsAccess: true },
    async (change) => await endOpenInstall(change, id),
  )

/** The same as part of another change. */
export const endOpenInstall = async (change: OpenChange, id: string): Promise<EndingStep | PlatformError> => {
  const found = await change.q.installs.find(id)
  const step = found === null ? null : endingStep(found.install)
  if (step === null) return refuse('version_not_eligible', { message: isOver })
  const taken = await takeInstallStep(change, { id, step })
  return taken instanceof PlatformError ? taken : step
}

const isOver = 'This install has already ended. Nothing was changed.'

type InstallMove = { readonly id: string; readonly step: InstallStep }

/** Takes one step inside a transaction. The update itself checks the state, so of two steps at once only one is taken. */
const takeInstallStep = async (
  { q, now, record }: OpenChange,
  { id, step }: InstallMove,
): Promise<InstallRecord | PlatformError> => {
  const { from, to } = installSteps[step]
  const found = await q.installs.find(id)
  if (found === null) return badInput('install', 'There is no such install.')
  const refusal = step === 'approve' ? await refusalToApprove(q, found.install) : null
  if (refusal !== null) return refusal
  if (!(await q.installs.move(id, from, to, now))) {
    return badInput('install', `Only an install that is ${from.approval} and ${from.state} can do this.`)
  }
  const { install, kind, resourceSlug, resourceExternalId } = found
  const { appId, environment } = install
  const told = toldOf(install.userId, { kind, externalId: resourceExternalId })
  await record({ action: `install.${pastOf[step]}`, appId, environment, target: id, told })
  return installRecord({ ...install, ...to, updatedAt: now }, kind, resourceSlug)
}

/** What gives a right asks that everything it is about can use it. A place that is gone has ended its installs. */
const refusalToApprove = async (q: Queries, { appId, userId }: Install): Promise<PlatformError | null> => {
  const app = await q.apps.byId(appId)
  if (app === null || app.deletedAt !== null) return badInput('install', 'Its app was deleted: reject it.')
  if (app.status !== 'active') return badInput('install', 'Its app is suspended: activate that first, or reject it.')
  const user = await q.users.byId(userId)
  return user?.status === 'active'
    ? null
    : badInput('install', 'Its user is disabled: enable them first, or reject it.')
}

const pastOf = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
  deactivate: 'deactivated',
} as const satisfies Record<InstallStep, string>

type ScopeAgreement = { readonly id: string; readonly agreedTo: readonly ScopeName[] }

/**
 * The owner agrees to the scopes that the app's current version asks for. Until then the install works with the scopes
 * agreed to before.
 * @throws invalid_request when the install is unknown or has ended, or the version now asks for other scopes
 */
export const agreeToScopes: Operation<ScopeAgreement, void> = async (platform, trace, actor, input) => {
  const agreedTo = formatScope(input.agreedTo)
  await decide(platform, trace, { actor, kind: 'guarded' }, async ({ q, now, record }) => {
    const found = await q.installs.find(input.id)
    const app = found === null ? null : await q.apps.byId(found.install.appId)
    if (found === null || app === null || endingStep(found.install) === null) {
      return badInput('install', 'There is no such install, or it has ended.')
    }
    const { install } = found
    const version = await currentVersion(q, app, install.environment)
    if (version === null || version.scopes !== agreedTo) return badInput('scopes', askedAnew)
    const before = parseStoredScope(install.scopes)
    await q.installs.setScopes(install.id, agreedTo, now)
    const { id, appId, environment } = install
    const detail = {
      added: input.agreedTo.filter((name) => !before.includes(name)),
      withdrawn: before.filter((name) => !input.agreedTo.includes(name)),
    }
    const told = toldOf(install.userId, { kind: found.kind, externalId: found.resourceExternalId })
    await record({ action: 'install.scopes_changed', appId, environment, target: id, detail, told })
    return null
  })
}
