import type { Queries, Version } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { rejectionFault, type VersionStep, versionSteps } from '../../domain/version.ts'
import { findApp } from '../apps/app-record.ts'
import { type Actor, auditStamp, type AuditStamp } from '../audit/event.ts'
import { badInput, decide, type Decision, done, type Operation, refused } from '../decision.ts'
import { announce } from '../webhooks/events.ts'
import { readVersionRecord, type RejectionItem, type VersionRecord } from './version-record.ts'

/**
 * Submits, withdraws, approves, rejects or activates a version. Activating supersedes the version that was live, in the
 * same transaction.
 * @throws invalid_request for an unknown app or a rejection without a reason, version_not_found, version_not_eligible
 */
export const moveVersion: Operation<VersionMove, VersionRecord> = async (platform, trace, actor, move) => {
  const fault = move.step === 'reject' ? rejectionFault(move.rejection ?? { message: '', items: [] }) : null
  if (fault !== null) throw badInput('message', fault)
  const stamp = auditStamp(platform, trace, platform.clock.now())
  return await decide(platform.database, async (q) => await takeStep(q, stamp, actor, move))
}

/**
 * Approves a submitted version and makes it live, in one transaction with an audit row for each step.
 * @throws invalid_request for an unknown app, version_not_found, version_not_eligible
 */
export const approveAndActivate: Operation<Pick<VersionMove, 'slug' | 'version' | 'seen'>, VersionRecord> = async (
  platform,
  trace,
  actor,
  move,
) => {
  const now = platform.clock.now()
  const [approved, activated] = [auditStamp(platform, trace, now), auditStamp(platform, trace, now)]
  return await decide(platform.database, async (q) => {
    const first = await takeStep(q, approved, actor, { ...move, step: 'approve', rejection: null })
    if (first.kind === 'refused') return first
    return await takeStep(q, activated, actor, { ...move, step: 'activate', rejection: null })
  })
}

export type VersionMove = {
  readonly slug: string
  readonly version: string
  readonly step: VersionStep
  /** The reason of a rejection; null for other steps. */
  readonly rejection: { readonly message: string; readonly items: readonly RejectionItem[] } | null
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
  q: Queries,
  stamp: AuditStamp,
  actor: Actor,
  move: VersionMove,
): Promise<Decision<VersionRecord>> => {
  const { from, to } = versionSteps[move.step]
  const app = await findApp(q, move.slug)
  const before = await q.versions.byName(app.id, move.version)
  if (before === null) return refused(refuse('version_not_found', { param: 'version' }))
  if (before.status !== from) return refused(refuse('version_not_eligible', { details: { status: before.status } }))
  const live = await q.versions.active(app.id)
  if (move.seen !== undefined && !isAsSeen(before, live, move.seen)) {
    return refused(refuse('version_not_eligible', { message: notAsSeen, details: { status: before.status } }))
  }
  const superseded = move.step === 'activate' ? live : null
  if (superseded !== null) await q.versions.move(superseded.id, ['active'], 'superseded', {}, stamp.at)
  if (!(await q.versions.move(before.id, [from], to, changesOf(move, stamp.at), stamp.at))) {
    throw new Error('a version changed its status within one transaction')
  }
  const detail = superseded === null ? {} : { detail: { superseded: superseded.id } }
  const action = `version.${pastOf[move.step]}` as const
  await announce(q, stamp, { actor, action, appId: app.id, target: before.id, ...detail })
  return done(await readVersionRecord(q, app.id, before.id))
}

const notAsSeen = 'This version, or the one that is live, has changed since it was shown.'

const isAsSeen = (version: Version, live: Version | null, seen: SeenVersion): boolean =>
  version.id === seen.id &&
  version.revision === seen.revision &&
  version.submittedAt === seen.submittedAt &&
  (live?.id ?? null) === seen.liveId

const changesOf = ({ step, rejection }: VersionMove, now: number) =>
  ({
    submit: { submittedAt: now },
    withdraw: { submittedAt: null },
    approve: { reviewedAt: now },
    reject: { reviewedAt: now, rejection: JSON.stringify(rejection) },
    activate: { activatedAt: now },
  })[step]

const pastOf = {
  submit: 'submitted',
  withdraw: 'withdrawn',
  approve: 'approved',
  reject: 'rejected',
  activate: 'activated',
} as const satisfies Record<VersionStep, string>
