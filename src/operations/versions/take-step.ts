import type { Queries, Version } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { type VersionStep, versionSteps } from '../../domain/version.ts'
import { findApp } from '../apps/find-app.ts'
import type { Actor, AuditStamp } from '../audit/event.ts'
import { type Decision, done, refused } from '../decision.ts'
import { announce } from '../webhooks/events.ts'
import { readVersionRecord, type RejectionItem, type VersionRecord } from './version-record.ts'

export type VersionMove = {
  readonly slug: string
  readonly version: string
  readonly step: VersionStep
  /** Why, when the step is to reject. */
  readonly rejection: { readonly message: string; readonly items: readonly RejectionItem[] } | null
  /** What whoever decides was shown. A version that is no longer that is not moved. */
  readonly seen?: SeenVersion
}

/**
 * A version as somebody has looked at it: withdrawn and submitted again it has another time, with other content another
 * revision too. `liveId` is the version that it was compared with, null for none.
 */
export type SeenVersion = Pick<Version, 'id' | 'revision' | 'submittedAt'> & { readonly liveId: string | null }

/**
 * One step of a version's life, inside a transaction. Refused in the update itself when the status is not the one that
 * the step starts from. Activating supersedes the version that was live.
 */
export const takeStep = async (
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
