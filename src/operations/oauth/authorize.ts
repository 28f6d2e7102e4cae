import type { AuthorizationRequest } from '../../domain/authorization-request.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordIdOfKey, rowKey } from '../../domain/identifier.ts'
import { redirectTarget } from '../../domain/registered-url.ts'
import { formatScope } from '../../domain/scope.ts'
import { hashSecret, mintSecret, secretDigits } from '../../domain/secret.ts'
import { auditStamp } from '../audit/event.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfEnded, type SessionCaller } from '../authenticate.ts'
import { checkAuthorizationRequest } from './check-authorization-request.ts'
import { announce } from '../webhooks/events.ts'

export type Authorization = {
  readonly code: string
  readonly state: string
  readonly redirectUri: string
  readonly redirectTo: string
  readonly scope: string
  readonly expiresInSeconds: number
  readonly grantId: string
  readonly appId: string
}

/**
 * Records the consent of a signed-in user as a new grant and gives the authorization code for it (spec section 4).
 * `consented` is what the user said; only true counts.
 * @throws login_required, invalid_client, invalid_redirect_uri, unsupported_code_challenge_method, invalid_request, invalid_scope,
 *   app_inactive, scope_not_available, scope_not_allowed, consent_required
 */
export const authorize = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  request: AuthorizationRequest,
  consented: boolean,
): Promise<Authorization> => {
  const now = platform.clock.now()
  const userId = session.user.id
  const expiresInSeconds = Math.min(platform.lifetimes.code, platform.lifetimes.grant)
  const expiresAt = now + expiresInSeconds * 1000
  const key = rowKey(platform.random.uuid(now))
  const grantId = recordIdOfKey('grt_', key)
  const code = mintSecret({ kind: 'authorizationCode', key, digits: platform.random.digits(secretDigits) })
  const hash = hashSecret(code)
  const stamp = auditStamp(platform, trace, now)

  return await decide(platform.database, async (q) => {
    const ended = await refusalIfEnded(platform, q, stamp, session, now)
    if (ended !== null) return refused(ended)
    const checked = await checkAuthorizationRequest(q, request)
    if (checked instanceof PlatformError) return refused(checked)
    if (!consented) return refused(refuse('consent_required', { param: 'consent' }))
    const scope = formatScope(checked.scopes)
    const { id: appId } = checked.app
    const { environment } = checked.client
    await q.grants.insert({
      id: grantId,
      userId,
      appId,
      clientId: request.clientId,
      scopes: scope,
      currentKey: key,
      createdAt: now,
      expiresAt,
      revokedAt: null,
      retryKey: null,
      retrySalt: null,
      retryFingerprint: null,
      retryUntil: null,
    })
    await q.grants.insertCode({
      key,
      hash,
      grantId,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
      expiresAt,
    })
    await announce(q, stamp, {
      actor: { kind: 'user', id: userId },
      action: 'grant.created',
      appId,
      environment,
      target: grantId,
      detail: { scope, clientId: request.clientId },
    })
    const redirectTo = redirectTarget(request.redirectUri, { code, state: request.state, iss: platform.publicUrl })
    const { redirectUri, state } = request
    return done({ code, state, redirectUri, redirectTo, scope, expiresInSeconds, grantId, appId })
  })
}
