import type { Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { type EndingStep, endingStep, type InstallStep, installSteps } from '../../domain/install.ts'
import { formatScope, parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { type Actor, auditStamp, type AuditStamp } from '../audit/event.ts'
import { badInput, decide, decideToEnd, type Decision, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { currentVersion } from '../versions/version-record.ts'
import { announce } from '../webhooks/events.ts'
import { askedAnew } from './create-install.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

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

/**
 * The owner agrees to what the app's version asks for now. Until then the install keeps working with what was agreed to
 * before.
 * @throws invalid_request when the install is unknown or over, or the version asks for something else by now
 */
export const agreeToScopes = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: { readonly id: string; readonly agreedTo: readonly ScopeName[] },
): Promise<void> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const agreedTo = formatScope(input.agreedTo)
  await decide(platform.database, async (q) => {
    const install = (await q.installs.find(input.id))?.install ?? null
    const app = install === null ? null : await q.apps.byId(install.appId)
    if (install === null || app === null || endingStep(install) === null) {
      return refused(badInput('install', 'There is no such install, or it is over.'))
    }
    const version = await currentVersion(q, app, install.environment)
    if (version === null || version.scopes !== agreedTo) return refused(badInput('scopes', askedAnew))
    const before = parseStoredScope(install.scopes)
    await q.installs.setScopes(install.id, agreedTo, now)
    await announce(q, stamp, {
      actor,
      action: 'install.scopes_changed',
      appId: install.appId,
      environment: install.environment,
      target: install.id,
      detail: {
        added: input.agreedTo.filter((name) => !before.includes(name)),
        withdrawn: before.filter((name) => !input.agreedTo.includes(name)),
      },
    })
    return done(null)
  })
}
