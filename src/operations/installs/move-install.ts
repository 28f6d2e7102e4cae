import { type InstallStep, installSteps } from '../../domain/install.ts'
import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

/**
 * Approves, rejects, withdraws or deactivates an install. The step is refused in the update itself when the install is not where
 * the step starts; what it ends is over on the next call of every token.
 * @throws invalid_request
 */
export const moveInstall = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly id: string; readonly step: InstallStep },
): Promise<InstallRecord> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const { from, to } = installSteps[input.step]
  return await decide(platform.database, async (q) => {
    const found = await q.installs.find(input.id)
    if (found === null) return refused(badInput('install', 'There is no such install.'))
    if (!(await q.installs.move(input.id, from, to, now))) {
      return refused(badInput('install', `Only an install that is ${from.approval} and ${from.state} can do this.`))
    }
    const { install, kind, resourceSlug } = found
    const action = `install.${pastOf[input.step]}`
    const { appId, environment } = install
    await q.audit.insert(auditEvent(stamp, { actor, action, appId, environment, target: install.id }))
    return done(installRecord({ ...install, ...to, updatedAt: now }, kind, resourceSlug))
  })
}

const pastOf = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
  deactivate: 'deactivated',
} as const satisfies Record<InstallStep, string>
