import { type VersionStep, versionSteps } from '../../domain/version.ts'
import { refuse } from '../../domain/errors.ts'
import { rejectionFault } from '../../domain/rejection.ts'
import { findApp } from '../apps/find-app.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { readVersionRecord, type RejectionItem, type VersionRecord } from './version-record.ts'

export type VersionMove = {
  readonly slug: string
  readonly version: string
  readonly step: VersionStep
  /** Why, when the step is to reject. */
  readonly rejection: { readonly message: string; readonly items: readonly RejectionItem[] } | null
}

/**
 * Submits, withdraws, approves, rejects or activates a version. The step is refused in the update itself when the
 * status is not the one it starts from. Activating supersedes the version that was live, in the same transaction.
 * @throws invalid_request for an unknown app or a rejection without a reason, version_not_found, version_not_eligible
 */
export const moveVersion = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  move: VersionMove,
): Promise<VersionRecord> => {
  const fault = move.step === 'reject' ? rejectionFault(move.rejection ?? { message: '', items: [] }) : null
  if (fault !== null) throw badInput('message', fault)
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const { from, to } = versionSteps[move.step]
  const times = {
    submit: { submittedAt: now },
    withdraw: { submittedAt: null },
    approve: { reviewedAt: now },
    reject: { reviewedAt: now, rejection: JSON.stringify(move.rejection) },
    activate: { activatedAt: now },
  }[move.step]

  return await decide(platform.database, async (q) => {
    const app = await findApp(q, move.slug)
    const before = await q.versions.byName(app.id, move.version)
    if (before === null) return refused(refuse('version_not_found', { param: 'version' }))
    if (before.status !== from) return refused(refuse('version_not_eligible', { details: { status: before.status } }))
    const live = move.step === 'activate' ? await q.versions.active(app.id) : null
    if (live !== null) await q.versions.move(live.id, ['active'], 'superseded', {}, now)
    if (!(await q.versions.move(before.id, [from], to, times, now))) {
      throw new Error('a version changed its status within one transaction')
    }
    await q.audit.insert(
      auditEvent(stamp, {
        actor,
        action: `version.${pastOf[move.step]}`,
        appId: app.id,
        target: before.id,
        ...(live === null ? {} : { detail: { superseded: live.id } }),
      }),
    )
    return done(await readVersionRecord(q, app.id, before.id))
  })
}

const pastOf = {
  submit: 'submitted',
  withdraw: 'withdrawn',
  approve: 'approved',
  reject: 'rejected',
  activate: 'activated',
} as const satisfies Record<VersionStep, string>
