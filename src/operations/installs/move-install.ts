import { PlatformError, refuse } from '../../domain/errors.ts'
import { type EndingStep, endingStep, type InstallStep, installSteps } from '../../domain/install.ts'
import { formatScope, parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { badInput, decide, type OpenChange, type Operation } from '../decide.ts'
import { currentVersion } from '../versions/version-record.ts'
import { askedAnew } from './create-install.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

/**
 * Approves, rejects, withdraws or deactivates an install. An install that ends grants no access from the next call on.
 * @throws invalid_request for an unknown ID, or when the install is not in the state in which the step starts
 */
export const moveInstall: Operation<InstallMove, InstallRecord> = async (platform, trace, actor, move) =>
  await decide(platform, trace, { actor }, async (change) => await takeInstallStep(change, move))

/**
 * Ends an install for its owner: a pending one is withdrawn, an active one is deactivated. Returns which of the two.
 * @throws version_not_eligible when it has already ended
 */
export const endInstall: Operation<string, EndingStep> = async (platform, trace, actor, id) =>
  await decide(platform, trace, { actor, kind: 'guarded', endsAccess: true }, async (change) => {
    const found = await change.q.installs.find(id)
    const step = found === null ? null : endingStep(found.install)
    if (step === null) return refuse('version_not_eligible', { message: isOver })
    const taken = await takeInstallStep(change, { id, step })
    return taken instanceof PlatformError ? taken : step
  })

/** The same as part of another change. Returns its refusal, or null. */
export const endOpenInstall = async (change: OpenChange, id: string): Promise<PlatformError | null> => {
  const found = await change.q.installs.find(id)
  const step = found === null ? null : endingStep(found.install)
  if (step === null) return refuse('version_not_eligible', { message: isOver })
  const taken = await takeInstallStep(change, { id, step })
  return taken instanceof PlatformError ? taken : null
}

const isOver = 'This install has already ended. Nothing was changed.'

type InstallMove = { readonly id: string; readonly step: InstallStep }

/** Takes one step inside a transaction. The update itself checks the state, so of two steps at once only one is taken. */
const takeInstallStep = async (
  { q, now, record }: OpenChange,
  { id, step }: InstallMove,
): Promise<InstallRecord | PlatformError> => {
  const { from, to } = installSteps[step]
  const found = await q.installs.find(id)
  if (found === null) return badInput('install', 'There is no such install.')
  if (!(await q.installs.move(id, from, to, now))) {
    return badInput('install', `Only an install that is ${from.approval} and ${from.state} can do this.`)
  }
  const { install, kind, resourceSlug } = found
  const { appId, environment } = install
  await record({ action: `install.${pastOf[step]}`, appId, environment, target: id })
  return installRecord({ ...install, ...to, updatedAt: now }, kind, resourceSlug)
}

const pastOf = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
  deactivate: 'deactivated',
} as const satisfies Record<InstallStep, string>

type ScopeAgreement = { readonly id: string; readonly agreedTo: readonly ScopeName[] }

/**
 * The owner agrees to the scopes that the app's current version asks for. Until then the install works with the scopes
 * agreed to before.
 * @throws invalid_request when the install is unknown or has ended, or the version now asks for other scopes
 */
export const agreeToScopes: Operation<ScopeAgreement, void> = async (platform, trace, actor, input) => {
  const agreedTo = formatScope(input.agreedTo)
  await decide(platform, trace, { actor, kind: 'guarded' }, async ({ q, now, record }) => {
    const install = (await q.installs.find(input.id))?.install ?? null
    const app = install === null ? null : await q.apps.byId(install.appId)
    if (install === null || app === null || endingStep(install) === null) {
      return badInput('install', 'There is no such install, or it has ended.')
    }
    const version = await currentVersion(q, app, install.environment)
    if (version === null || version.scopes !== agreedTo) return badInput('scopes', askedAnew)
    const before = parseStoredScope(install.scopes)
    await q.installs.setScopes(install.id, agreedTo, now)
    const { id, appId, environment } = install
    const detail = {
      added: input.agreedTo.filter((name) => !before.includes(name)),
      withdrawn: before.filter((name) => !input.agreedTo.includes(name)),
    }
    await record({ action: 'install.scopes_changed', appId, environment, target: id, detail })
    return null
  })
}
