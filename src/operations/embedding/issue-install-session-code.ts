import type { Queries } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isInstallLive } from '../../domain/install.ts'
import { embedUrlOf } from '../../domain/registered-url.ts'
import { commonTo, formatScope, parseStoredScope } from '../../domain/scope.ts'
import { clientOfApp, mayTest } from '../apps/app-record.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { decide } from '../decide.ts'
import { newSecret } from '../new-secret.ts'
import type { Platform, Trace } from '../platform.ts'
import { storedJson } from '../stored-json.ts'
import { currentVersion } from '../versions/version-record.ts'

/** An installed app, ready to be opened in a frame. */
export type OpenedApp = Awaited<ReturnType<typeof issueInstallSessionCode>>

/**
 * Issues the single-use code that the page of an installed app exchanges for its session. The code is bound to the install,
 * the caller's session and the origin of the page. Put it only into the fragment of the frame's URL.
 * @throws route_not_found for another user's install; install_required, app_inactive; version_not_eligible if the version
 *   has no page to embed
 */
export const issueInstallSessionCode = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  installId: string,
) => {
  const now = platform.clock.now()
  const { key, secret: code, hash } = newSecret(platform, 'installSessionCode', now)
  const expiresInSeconds = platform.lifetimes.installSessionCode
  return await decide(platform, trace, { actor: actorOf(caller), now, kind: 'guarded' }, async ({ q, record }) => {
    const opened = await openedApp(q, platform.publicUrl, caller, installId)
    if (opened instanceof PlatformError) return opened
    const { app, install, place, embed, clientId, scopes } = opened
    await q.embedding.insertCode({
      key,
      hash,
      installId,
      sessionKey: caller.sessionKey,
      clientId,
      origin: embed.origin,
      scopes,
      createdAt: now,
      expiresAt: now + expiresInSeconds * 1000,
      spentAt: null,
      gaveKey: null,
      spentFrom: null,
    })
    const { environment } = install
    await record({ action: 'install_session_code.issued', appId: app.id, environment, target: installId })
    return { appId: app.id, name: app.name, place, embed, code, expiresInSeconds }
  })
}

/** Every check before an app is opened in a frame. */
const openedApp = async (q: Queries, publicUrl: string, caller: SessionCaller, installId: string) => {
  const found = await q.installs.find(installId)
  const install = found?.install ?? null
  if (found === null || install === null || install.userId !== caller.user.id) return refuse('route_not_found')
  if (!isInstallLive(install)) return refuse('install_required', { message: notInUse })
  const app = await q.apps.byId(install.appId)
  if (app === null || app.status !== 'active') return refuse('app_inactive')
  const isForeignTest = install.environment === 'development' && !(await mayTest(q, app, caller.user.id))
  const version = isForeignTest ? null : await currentVersion(q, app, install.environment)
  const embed = version === null ? null : embedUrlOf(storedJson(version.manifest))
  // A page of our own origin could escape a sandbox that allows the page its own origin.
  if (version === null || embed === null || embed.origin === publicUrl) return nothingToOpen()
  const client = await clientOfApp(q, app.id, install.environment)
  const scopes = formatScope(commonTo(parseStoredScope(install.scopes), parseStoredScope(version.scopes)))
  const place = { kind: found.kind, slug: found.resourceSlug }
  return { app, install, place, embed, clientId: client.id, scopes }
}

const notInUse = 'This install is not in use: it waits for approval, or it has ended.'
const nothingToOpen = (): PlatformError =>
  refuse('version_not_eligible', { message: 'This app has no page that can be opened here.' })

/** Whether a page of this origin was recently opened in a frame, by any user. */
export const isKnownOrigin = async (platform: Platform, origin: string): Promise<boolean> =>
  await platform.database.queries.embedding.isKnownOrigin(origin)
