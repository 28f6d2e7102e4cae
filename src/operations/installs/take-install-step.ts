import type { Queries } from '../../../db/database.ts'
import { type InstallStep, installSteps } from '../../domain/install.ts'
import type { Actor, AuditStamp } from '../audit/event.ts'
import { badInput, type Decision, done, refused } from '../decision.ts'
import { announce } from '../webhooks/events.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

export type InstallMove = { readonly id: string; readonly step: InstallStep }

/**
 * One step of an install's life, inside a transaction. Refused in the update itself when the install is not where the step
 * starts.
 */
export const takeInstallStep = async (
  q: Queries,
  stamp: AuditStamp,
  actor: Actor,
  { id, step }: InstallMove,
): Promise<Decision<InstallRecord>> => {
  const { from, to } = installSteps[step]
  const found = await q.installs.find(id)
  if (found === null) return refused(badInput('install', 'There is no such install.'))
  if (!(await q.installs.move(id, from, to, stamp.at))) {
    return refused(badInput('install', `Only an install that is ${from.approval} and ${from.state} can do this.`))
  }
  const { install, kind, resourceSlug } = found
  const { appId, environment } = install
  await announce(q, stamp, { actor, action: `install.${pastOf[step]}`, appId, environment, target: id })
  return done(installRecord({ ...install, ...to, updatedAt: stamp.at }, kind, resourceSlug))
}

const pastOf = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
  deactivate: 'deactivated',
} as const satisfies Record<InstallStep, string>
