import type { App, Queries, Version } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isProductionRollbackTarget } from '../../domain/version.ts'
import { prepareChange } from '../decision.ts'
import { once, type RepeatableRequest } from '../once.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type AppCaller } from '../authenticate.ts'
import { currentVersion, readVersionRecord } from './version-record.ts'

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
    const step = { environment, fromVersionId: from.id, toVersionId: to.id, reason }
    if (!dryRun) {
      await applySwap(q, swap, environment, now)
      await q.rollbacks.insert({ id, appId: app.id, ...step, createdAt: now })
      const detail = { rollbackId: id, fromVersionId: from.id }
      await change.record({ action: 'version.rolled_back', appId: app.id, environment, target: to.id, detail })
    }
    return {
      rollback: { id: dryRun ? null : id, ...step, dryRun, createdAt: now },
      version: await readVersionRecord(q, app.id, to.id),
      distributionChanged: environment === 'production',
    }
  }
  return await once(platform, { request: repeatable, now, work })
}

/** The current version and the version that replaces it. */
type Swap = { readonly app: App; readonly from: Version; readonly to: Version }

const findSwap = async (q: Queries, appId: string, request: RollbackRequest): Promise<Swap | PlatformError> => {
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
  { target, environment }: RollbackRequest,
  from: Version | null,
): Promise<Version | PlatformError> => {
  if (target !== null) {
    const named =
      'id' in target ? await q.versions.byId(app.id, target.id) : await q.versions.byName(app.id, target.version)
    return named ?? refuse('version_not_found', { param: 'id' in target ? 'versionId' : 'version' })
  }
  if (from === null) return refuse('no_previous_version')
  const previous =
    environment === 'production'
      ? await q.versions.previousSuperseded(app.id, from.number)
      : await q.versions.previous(app.id, from.number)
  return previous ?? refuse('no_previous_version')
}

/**
 * Moves the head, or swaps the live version.
 * @throws Error when a status has changed since it was read, so that the transaction undoes half of a swap
 */
const applySwap = async (q: Queries, { app, from, to }: Swap, environment: Environment, now: number): Promise<void> => {
  if (environment === 'development') return await q.apps.change(app.id, { developmentVersionId: to.id }, now)
  const isSwapped =
    (await q.versions.move(from.id, ['active'], 'superseded', {}, now)) &&
    (await q.versions.move(to.id, ['superseded'], 'active', { activatedAt: now }, now))
  if (!isSwapped) throw new Error('a version changed its status within one transaction')
}
