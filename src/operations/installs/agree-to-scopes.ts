import { formatScope, parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { endingStep } from '../../domain/install.ts'
import { type Actor, auditStamp } from '../audit/event.ts'
import { badInput, decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { currentVersion } from '../versions/current-version.ts'
import { askedAnew } from './create-install.ts'
import { announce } from '../webhooks/events.ts'

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
