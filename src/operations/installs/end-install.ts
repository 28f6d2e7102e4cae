import { refuse } from '../../domain/errors.ts'
import { type EndingStep, endingStep } from '../../domain/install.ts'
import { type Actor, auditStamp } from '../audit/event.ts'
import { decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { takeInstallStep } from './take-install-step.ts'

/**
 * The owner ends an install: what waits is withdrawn, what is in use deactivated. Gives which of the two it was.
 * @throws version_not_eligible when it is over already
 */
export const endInstall = async (platform: Platform, trace: Trace, actor: Actor, id: string): Promise<EndingStep> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  return await decideToEnd(platform.database, async (q) => {
    const found = await q.installs.find(id)
    const step = found === null ? null : endingStep(found.install)
    if (step === null) return refused(refuse('version_not_eligible', { message: isOver }))
    const taken = await takeInstallStep(q, stamp, actor, { id, step })
    return taken.kind === 'done' ? done(step) : taken
  })
}

const isOver = 'This install has ended already. Nothing was changed.'
