import type { Version } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { rejectionFault, type VersionStep, versionSteps } from '../../domain/version.ts'
import { findApp } from '../apps/app-record.ts'
import { decide, type OpenChange, type Operation, refuseFault } from '../decide.ts'
import { makeLive, moveFrom, readVersionRecord, type Rejection, type VersionRecord } from './version-record.ts'

/**
 * Submits, withdraws, approves, rejects or activates a version. Activating supersedes the version that was live, in the
 * same transaction.
 * @throws invalid_request for an unknown app or a rejection without a reason, version_not_found, version_not_eligible
 */
export const moveVersion: Operation<VersionMove, VersionRecord> = async (platform, trace, actor, move) => {
  refuseFault('message', move.step === 'reject' ? rejectionFault(move.rejection ?? { message: '', items: [] }) : null)
  return await decide(platform, trace, { actor }, async (change) => await takeStep(change, move))
}

type Publication = Pick<VersionMove, 'slug' | 'version' | 'seen'>

/**
 * Approves a submitted version and makes it live, in one transaction with an audit row for each step.
 * @throws invalid_request for an unknown app, version_not_found, version_not_eligible
 */
export const approveAndActivate: Operation<Publication, VersionRecord> = async (platform, trace, actor, move) =>
  await decide(platform, trace, { actor }, async (change) => {
    const first = await takeStep(change, { ...move, step: 'approve', rejection: null })
    if (first instanceof PlatformError) return first
    return await takeStep(change, { ...move, step: 'activate', rejection: null })
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
const takeStep = async ({ q, now, record }: OpenChange, move: VersionMove): Promise<VersionRecord | PlatformError> => {
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
  else await moveFrom(q, before, to, changesOf(move.step, move.rejection, now), now)
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

const changesOf = (step: Exclude<VersionStep, 'activate'>, rejection: Rejection | null, now: number) =>
  ({
    submit: { submittedAt: now },
    withdraw: { submittedAt: null },
    approve: { reviewedAt: now },
    reject: { reviewedAt: now, rejection: JSON.stringify(rejection) },
  })[step]

const pastOf = {
  submit: 'submitted',
  withdraw: 'withdrawn',
  approve: 'approved',
  reject: 'rejected',
  activate: 'activated',
} as const satisfies Record<VersionStep, string>
