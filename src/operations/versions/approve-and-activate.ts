import { type Actor, auditStamp } from '../audit/event.ts'
import { decide } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { takeStep, type VersionMove } from './take-step.ts'
import type { VersionRecord } from './version-record.ts'

/**
 * Approves a submitted version and makes it the live one, both or neither; an event tells of each step.
 * @throws invalid_request for an unknown app, version_not_found, version_not_eligible
 */
export const approveAndActivate = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  move: Pick<VersionMove, 'slug' | 'version' | 'seen'>,
): Promise<VersionRecord> => {
  const now = platform.clock.now()
  const [approved, activated] = [auditStamp(platform, trace, now), auditStamp(platform, trace, now)]
  return await decide(platform.database, async (q) => {
    const first = await takeStep(q, approved, actor, { ...move, step: 'approve', rejection: null })
    if (first.kind === 'refused') return first
    return await takeStep(q, activated, actor, { ...move, step: 'activate', rejection: null })
  })
}
