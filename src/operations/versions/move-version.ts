import type { Version, App, Queries } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import {
  rejectionFault,
  type VersionStep,
  versionSteps,
  isProductionRollbackTarget,
  liveStack,
} from '../../domain/version.ts'
import { findApp } from '../apps/app-record.ts'
import { decide, type OpenChange, type Operation, refuseFault, prepareChange } from '../decide.ts'
import {
  makeLive,
  moveFrom,
  readVersionRecord,
  type Rejection,
  type VersionRecord,
  compareVersions,
  currentVersion,
  versionRecord,
} from './version-record.ts'
import type { Environment } from '../../domain/app.ts'
import { once, type RepeatableRequest } from '../once.ts'
import type { Actor } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type AppCaller } from '../authenticate.ts'

/**
 * Submits, withdraws, approves, rejects or activates a version. Activating supersedes the version that was live, in the
 * same transaction.
 * @throws invalid_request for an unknown app or a rejection without a reason, version_not_found, version_not_eligible
 */
export const moveVersion: Operation<VersionMove, VersionRecord> = async (platform, trace, actor, move) => {
  refuseFault('message', move.step === 'reject' ? rejectionFault(move.rejection ?? { message: '', items: [] }) : null)
  return await decide(platform, trace, { actor }, async (change) => await takeStep(change, actor, move))
}

type Publication = Pick<VersionMove, 'slug' | 'version' | 'seen'>

/**
 * Approves a submitted version and makes it live, in one transaction with an audit row for each step.
 * @throws invalid_request for an unknown app, version_not_found, version_not_eligible
 */
export const approveAndActivate: Operation<Publication, VersionRecord> = async (platform, trace, actor, move) =>
  await decide(platform, trace, { actor }, async (change) => {
    const first = await takeStep(change, actor, { ...move, step: 'approve', rejection: null })
    if (first instanceof PlatformError) return first
    return await takeStep(change, actor, { ...move, step: 'activate', rejection: null })
  })

type VersionMove = {
  readonly slug: string
  readonly version: string
  readonly step: VersionStep
  /** The reason of a rejection; null for other steps. */
  readonly rejection: Rejection | null
  /** What the person who decides was shown. The step is refused when the version has changed since. */
  readonly seen?: SeenVersion
}

/**
 * A version as a person has looked at it. Submitting it again changes `submittedAt`, replacing its content changes
 * `revision`. `liveId` is the live version that it was compared with, or null.
 */
export type SeenVersion = Pick<Version, 'id' | 'revision' | 'submittedAt'> & { readonly liveId: string | null }

/**
 * Takes one step inside a transaction. The update itself checks the status, so of two steps at once only one is taken.
 * Activating supersedes the version that was live.
 */
const takeStep = async (
  { q, now, record }: OpenChange,
  actor: Actor,
  move: VersionMove,
): Promise<VersionRecord | PlatformError> => {
  const { from, to } = versionSteps[move.step]
  const app = await findApp(q, move.slug)
  const before = await q.versions.byName(app.id, move.version)
  if (before === null) return refuse('version_not_found', { param: 'version' })
  if (before.status !== from) return refuse('version_not_eligible', { details: { status: before.status } })
  const live = await q.versions.active(app.id)
  if (move.seen !== undefined && !isAsSeen(before, live, move.seen)) {
    return refuse('version_not_eligible', { message: notAsSeen, details: { status: before.status } })
  }
  const superseded = move.step === 'activate' ? live : null
  if (move.step === 'activate') await makeLive(q, { from: live, to: before, rollbackId: null }, now)
  else await moveFrom(q, before, to, changesOf(move.step, actor, move.rejection, now), now)
  const detail = superseded === null ? {} : { detail: { superseded: superseded.id } }
  await record({ action: `version.${pastOf[move.step]}`, appId: app.id, target: before.id, ...detail })
  return await readVersionRecord(q, app.id, before.id)
}

const notAsSeen = 'This version, or the one that is live, has changed since it was shown.'

const isAsSeen = (version: Version, live: Version | null, seen: SeenVersion): boolean =>
  version.id === seen.id &&
  version.revision === seen.revision &&
  version.submittedAt === seen.submittedAt &&
  (live?.id ?? null) === seen.liveId

const changesOf = (step: Exclude<VersionStep, 'activate'>, actor: Actor, rejection: Rejection | null, now: number) =>
  ({
    submit: { submittedAt: now },
    withdraw: { submittedAt: null },
    approve: { reviewedAt: now, reviewedBy: personBehind(actor) },
    reject: { reviewedAt: now, reviewedBy: personBehind(actor), rejection: JSON.stringify(rejection) },
  })[step]

/** The ID of an operator who has an account here. At the command line they are named by their account on the machine. */
const personBehind = (actor: Actor): string | null =>
  actor.kind === 'operator' && actor.id.startsWith('usr_') ? actor.id : null

const pastOf = {
  submit: 'submitted',
  withdraw: 'withdrawn',
  approve: 'approved',
  reject: 'rejected',
  activate: 'activated',
} as const satisfies Record<VersionStep, string>

/** A draft that is removed, by its ID. The rule about the app is that of the caller. */
type DraftRemoval = { readonly slug: string; readonly id: string }

/**
 * Removes a draft. If it was the development head, the newest version that is left is. Its name is free, and its artifact goes if no
 * other version has it.
 * @throws version_not_found, version_locked
 */
export const removeDraft: Operation<DraftRemoval, VersionRecord> = async (platform, trace, actor, { slug, id }) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findApp(q, slug)
    const draft = await q.versions.byId(app.id, id)
    if (draft === null) return refuse('version_not_found')
    const { status, version, number } = draft
    if (status !== 'draft') return refuse('version_locked', { details: { status } })
    const removed = versionRecord(draft, app)
    if (removed.current.development) {
      const developmentVersionId = (await q.versions.newestBut(app.id, id))?.id ?? null
      await q.apps.change(app.id, { developmentVersionId }, now)
    }
    await q.reviewMessages.removeOfVersion(id)
    if (!(await q.versions.removeDraft(id))) throw new Error('a draft changed within one transaction')
    if (draft.artifactSha256 !== null) await q.artifacts.removeUnused(draft.artifactSha256)
    const detail = { version, number }
    await record({ action: 'version.removed', appId: app.id, environment: 'development', target: id, detail })
    return removed
  })

export type RollbackRequest = {
  readonly target: { readonly id: string } | { readonly version: string } | null
  readonly environment: Environment
  readonly reason: string | null
  readonly dryRun: boolean
}

/**
 * Goes back to another version. In development the head moves; in production a version that was live before becomes live
 * again and the live one is superseded. Every rollback is recorded; a dry run changes nothing, and its ID is null.
 * @throws rollback_not_allowed, version_not_found, no_previous_version, version_already_current, version_not_eligible
 */
export const rollBackVersion = async (
  platform: Platform,
  trace: Trace,
  caller: AppCaller,
  request: RollbackRequest,
  repeatable: RepeatableRequest | null,
) => {
  const now = platform.clock.now()
  const id = `rbk_${platform.random.uuidHex(now)}`
  const open = prepareChange(platform, trace, actorOf(caller), now)
  const { environment, reason, dryRun } = request

  const work = async (q: Queries) => {
    const change = open(q)
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    const own = await q.apps.byId(caller.app.id)
    if (environment === 'production' && own?.secretsRollBack !== true) return refuse('rollback_not_allowed')
    const swap = await findSwap(q, caller.app.id, request)
    if (swap instanceof PlatformError) return swap
    const { app, from, to } = swap
    const { credentialId } = caller
    const by = { credentialId, label: (await q.credentials.find(credentialId))?.credential.label ?? null }
    if (!dryRun) await takeRollback(change, swap, { id, environment, reason }, { credentialId })
    const step = { environment, fromVersionId: from.id, toVersionId: to.id, reason, by }
    return {
      rollback: { id: dryRun ? null : id, ...step, dryRun, createdAt: now },
      version: await readVersionRecord(q, app.id, to.id),
      distributionChanged: environment === 'production',
    }
  }
  return await once(platform, { request: repeatable, now, work })
}

/** The rollback that an owner has confirmed on a page. */
type OwnRollback = Pick<RollbackRequest, 'environment' | 'reason'> & {
  readonly slug: string
  /** The IDs of the current version and of the target, as they were shown. */
  readonly seen: { readonly fromId: string; readonly toId: string }
}

/**
 * Rolls back the owner's app, by the rules of `rollBackVersion`.
 * @throws as `rollBackVersion` does; version_not_eligible when another version has become current since the page was shown
 */
export const rollBackOwnVersion: Operation<OwnRollback, VersionRecord> = async (platform, trace, actor, input) => {
  const { slug, seen, environment, reason } = input
  const now = platform.clock.now()
  const id = `rbk_${platform.random.uuidHex(now)}`
  return await decide(platform, trace, { actor, now }, async (change) => {
    const { q } = change
    const app = await findApp(q, slug)
    const swap = await findSwap(q, app.id, { environment, target: { id: seen.toId } })
    if (swap instanceof PlatformError) return swap
    if (swap.from.id !== seen.fromId) return refuse('version_not_eligible', { message: movedSince })
    await takeRollback(change, swap, { id, environment, reason })
    return await readVersionRecord(q, app.id, swap.to.id)
  })
}

const movedSince =
  'Another version has become current since this page was shown. Nothing was changed. See the new preview.'

/**
 * What a rollback would do now: the current version, the one that replaces it, the differences, and how many installs get it.
 * @throws version_not_found, no_previous_version, version_already_current, version_not_eligible
 */
export const previewRollback = async (
  { database }: Platform,
  appId: string,
  request: Pick<RollbackRequest, 'environment' | 'target'>,
) => {
  const swap = await findSwap(database.queries, appId, request)
  if (swap instanceof PlatformError) throw swap
  const [from, to] = [versionRecord(swap.from, swap.app), versionRecord(swap.to, swap.app)]
  const installs = await database.queries.installs.countsOfApp(appId)
  const active = installs.filter(({ state }) => state === 'active')
  return { from, to, ...compareVersions(from, to), activeInstalls: active.reduce((sum, { count }) => sum + count, 0) }
}

type RollbackStep = Pick<RollbackRequest, 'environment' | 'reason'> & { readonly id: string }

/** `by` is the credential of a program; the actor names a person. */
const takeRollback = async (
  { q, now, record }: OpenChange,
  swap: Swap,
  { id, environment, reason }: RollbackStep,
  by: { readonly credentialId?: string } = {},
) => {
  const { app, from, to } = swap
  const row = { id, appId: app.id, environment, fromVersionId: from.id, toVersionId: to.id, reason, createdAt: now }
  await q.rollbacks.insert(row)
  if (environment === 'development') await q.apps.change(app.id, { developmentVersionId: to.id }, now)
  else await makeLive(q, { from, to, rollbackId: id }, now)
  const detail = { rollbackId: id, fromVersionId: from.id, ...by }
  await record({ action: 'version.rolled_back', appId: app.id, environment, target: to.id, detail })
}

/** The current version and the version that replaces it. */
type Swap = { readonly app: App; readonly from: Version; readonly to: Version }

const findSwap = async (
  q: Queries,
  appId: string,
  request: Pick<RollbackRequest, 'environment' | 'target'>,
): Promise<Swap | PlatformError> => {
  const app = await q.apps.byId(appId)
  if (app === null) return refuse('invalid_token')
  const from = await currentVersion(q, app, request.environment)
  const to = await targetVersion(q, app, request, from)
  if (to instanceof PlatformError) return to
  if (from?.id === to.id) return refuse('version_already_current')
  if (request.environment === 'production' && !isProductionRollbackTarget(to.status)) return notEligible(to)
  return from !== null ? { app, from, to } : refuse('no_previous_version')
}

const notEligible = ({ status }: Version): PlatformError => refuse('version_not_eligible', { details: { status } })

const targetVersion = async (
  q: Queries,
  app: App,
  { target, environment }: Pick<RollbackRequest, 'environment' | 'target'>,
  from: Version | null,
): Promise<Version | PlatformError> => {
  if (target !== null) {
    const named =
      'id' in target ? await q.versions.byId(app.id, target.id) : await q.versions.byName(app.id, target.version)
    return named ?? refuse('version_not_found', { param: 'id' in target ? 'versionId' : 'version' })
  }
  if (from === null) return refuse('no_previous_version')
  return (await previousVersion(q, from, environment)) ?? refuse('no_previous_version')
}

/** The version to go back to unless another is named. */
const previousVersion = async (q: Queries, from: Version, environment: Environment): Promise<Version | null> => {
  if (environment === 'development') return await q.versions.previous(from.appId, from.number)
  const id = liveStack(await q.liveChanges.versionIds(from.appId)).at(-2)
  return id === undefined ? null : await q.versions.byId(from.appId, id)
}
