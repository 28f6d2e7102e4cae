import { type Actor, auditStamp } from '../audit/event.ts'
import { decide } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { InstallRecord } from './install-record.ts'
import { type InstallMove, takeInstallStep } from './take-install-step.ts'

/**
 * Approves, rejects, withdraws or deactivates an install. What that ends is over on the next call of every token.
 * @throws invalid_request when there is no such install, or the step does not start where it is
 */
export const moveInstall = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  move: InstallMove,
): Promise<InstallRecord> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  return await decide(platform.database, async (q) => await takeInstallStep(q, stamp, actor, move))
}
