import { rejectionFault } from '../../domain/version.ts'
import { type Actor, auditStamp } from '../audit/event.ts'
import { badInput, decide } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { takeStep, type VersionMove } from './take-step.ts'
import type { VersionRecord } from './version-record.ts'

export type { VersionMove } from './take-step.ts'

/**
 * Submits, withdraws, approves, rejects or activates a version. Activating supersedes the version that was live, in the
 * same transaction.
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
  const stamp = auditStamp(platform, trace, platform.clock.now())
  return await decide(platform.database, async (q) => await takeStep(q, stamp, actor, move))
}
