import type { App, Queries, Version } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isProductionRollbackTarget, liveStack } from '../../domain/version.ts'
import { findApp } from '../apps/app-record.ts'
import { decide, type OpenChange, type Operation, prepareChange } from '../decide.ts'
import { once, type RepeatableRequest } from '../once.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type AppCaller } from '../authenticate.ts'
import {
  compareVersions,
  currentVersion,
  makeLive,
  readVersionRecord,
  type VersionRecord,
  versionRecord,
} from './version-record.ts'

export type RollbackRequest = {
  readonly target: { readonly id: string } | { readonly version: string } | null
  readonly environment: Environment
  readonly reason: string | null
  readonly dryRun: boolean
}

/**
 * Goes back to another version. In development the head moves; in production a version that was live before becomes live
 * again and the live one is superseded. Every rollback is recorded; a dry run changes nothing, and its ID is null.
 * @throws version_not_found, no_previous_version, version_already_current, version_not_eligible
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
    const swap = await findSwap(q, caller.app.id, request)
    if (swap instanceof PlatformError) return swap
    const { app, from, to } = swap
    if (!dryRun) await takeRollback(change, swap, { id, environment, reason })
    const step = { environment, fromVersionId: from.id, toVersionId: to.id, reason }
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

const takeRollback = async ({ q, now, record }: OpenChange, swap: Swap, { id, environment, reason }: RollbackStep) => {
  const { app, from, to } = swap
  const row = { id, appId: app.id, environment, fromVersionId: from.id, toVersionId: to.id, reason, createdAt: now }
  await q.rollbacks.insert(row)
  if (environment === 'development') await q.apps.change(app.id, { developmentVersionId: to.id }, now)
  else await makeLive(q, { from, to, rollbackId: id }, now)
  const detail = { rollbackId: id, fromVersionId: from.id }
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
