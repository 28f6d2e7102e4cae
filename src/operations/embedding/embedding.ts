import { whyInactive } from '../../domain/app.ts'
import type { Queries, EmbeddedSession } from '../../../db/database.ts'
import { shownIcon } from '../../domain/app-icon.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isInstallLive } from '../../domain/install.ts'
import { embedUrlOf } from '../../domain/registered-url.ts'
import { commonTo, formatScope, parseStoredScope } from '../../domain/scope.ts'
import { clientOfApp, mayTest } from '../apps/app-record.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { CountedRefusal, decide, newSecret, ReusedSecret } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { storedJson } from '../stored-json.ts'
import { currentVersion } from '../versions/version-record.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { parseSecret } from '../../domain/secret.ts'
import { embeddedScopes, embeddingFault, isOwnRepeat } from '../../domain/session.ts'
import { claimedTrail } from '../authenticate-client.ts'
import { findInstallSessionCode } from '../find-token.ts'
import { anonymous } from '../audit/event.ts'

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
    const live = await q.versions.active(app.id)
    const icon = shownIcon({ status: app.status, iconSha256: live?.iconSha256 ?? null })
    return { appId: app.id, slug: app.slug, name: app.name, icon, place, embed, code, expiresInSeconds }
  })
}

/** Every check before an app is opened in a frame. */
const openedApp = async (q: Queries, publicUrl: string, caller: SessionCaller, installId: string) => {
  const found = await q.installs.find(installId)
  const install = found?.install ?? null
  if (found === null || install === null || install.userId !== caller.user.id) return refuse('route_not_found')
  if (!isInstallLive(install)) return refuse('install_required', { message: notInUse })
  const app = await q.apps.byId(install.appId)
  if (app?.status !== 'active') return app === null ? refuse('app_inactive') : whyInactive(app)
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

/** What the page in the frame presents. `origin` is the page's origin as its browser reports it; null without one. */
type InstallSessionExchange = { readonly clientId: string; readonly code: string; readonly origin: string | null }

type FoundCode = NonNullable<Awaited<ReturnType<Queries['embedding']['findCode']>>>

/**
 * Exchanges an install-session code for an embedded session. Everything is checked first and the code is consumed last, in
 * the transaction that issues: of any number of parallel calls one wins, and a failed call spends nothing. A spent code
 * that is presented again ends the session it gave, unless its own page sent it twice.
 * @throws invalid_grant for an unknown, spent or expired code, another client, and a user or session that has ended;
 *   origin_not_allowed; app_inactive, install_required
 */
export const exchangeInstallSessionCode = async (platform: Platform, trace: Trace, request: InstallSessionExchange) => {
  const now = platform.clock.now()
  const secret = parseSecret('installSessionCode', request.code)
  const { key, secret: sessionToken, hash } = newSecret(platform, 'embeddedSession', now)
  const lifetimeMs = platform.lifetimes.embeddedSession * 1000

  return await decide(platform, trace, { actor: anonymous, now, kind: 'guarded' }, async ({ q, record }) => {
    const found = secret === null ? null : await findInstallSessionCode(q, secret)
    if (found === null || found.code.clientId !== request.clientId) {
      const trail = await claimedTrail(q, request.clientId)
      return new CountedRefusal(refuse('invalid_grant'), { ...trail, action: 'embedded_session.issue' })
    }
    const { code } = found
    const trail = trailOf(found)
    if (code.spentAt !== null) {
      // Even if it has expired: someone else may hold a copy of the code, and so the session.
      const isOwn = isOwnRepeat({ code, origin: request.origin, address: trace.address }, now)
      const sessionEnded = isOwn || code.gaveKey === null ? false : await q.embedding.endSession(code.gaveKey, now)
      const facts = { action: 'install_session_code.reuse_detected', refusedWith: 'invalid_grant' } as const
      await record({ ...trail, ...facts, detail: { sessionEnded } })
      return new ReusedSecret('install_session_code')
    }
    const fault = faultOf(found, request, now, platform.lifetimes.sessionIdle)
    if (fault !== null) return new CountedRefusal(fault, { ...trail, action: 'embedded_session.issue' })

    const use = { spentAt: now, gaveKey: key, spentFrom: trace.address }
    // Its row is locked since it was read: no other call can have spent it in between.
    if (!(await q.embedding.spendCode(code.key, use))) throw new Error('a code was spent within a transaction')
    const session = sessionRow(found, { key, hash, now, lifetimeMs })
    await q.embedding.insertSession(session)
    const place = await q.installs.find(session.installId)
    if (place === null) throw new Error('an install is gone within its own transaction')
    const detail = { scope: session.scopes }
    await record({ ...trail, action: 'embedded_session.issued', detail })
    const { kind, resourceSlug: resource } = place
    return {
      sessionToken,
      expiresInSeconds: Math.floor((session.expiresAt - now) / 1000),
      scope: session.scopes,
      appId: found.appId,
      userId: found.userId,
      install: { id: session.installId, environment: found.environment, kind, resource },
    }
  })
}

/** Why an unspent code of this client gives no session. */
const faultOf = (found: FoundCode, { origin }: InstallSessionExchange, now: number, idleSeconds: number) => {
  if (found.code.origin !== origin) return refuse('origin_not_allowed', { message: wrongOrigin })
  if (!isValidAt(found.code, now)) return refuse('invalid_grant')
  const fault = embeddingFault(found, now, idleSeconds)
  return fault === null ? null : refuse(fault)
}

export const wrongOrigin = 'Only pages of the origin that the app was opened with may make this call.'

/** The row of the new session. It ends with the user's session if that is sooner. */
const sessionRow = (
  { code, sessionExpiresAt, ...state }: FoundCode,
  minted: { readonly key: RowKey; readonly hash: EmbeddedSession['hash']; readonly now: number; lifetimeMs: number },
): EmbeddedSession => ({
  key: minted.key,
  hash: minted.hash,
  installId: code.installId,
  sessionKey: code.sessionKey,
  clientId: code.clientId,
  origin: code.origin,
  scopes: formatScope(embeddedScopes(code.scopes, state)),
  createdAt: minted.now,
  expiresAt: Math.min(minted.now + minted.lifetimeMs, sessionExpiresAt),
  endedAt: null,
})

const trailOf = ({ code, appId, environment }: FoundCode) => ({
  actor: { kind: 'app', id: code.clientId } as const,
  appId,
  environment,
  target: code.installId,
})
