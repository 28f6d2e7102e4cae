import { accessDenied, type AuthorizationRequest } from '../../domain/authorization-request.ts'
import { PlatformError } from '../../domain/errors.ts'
import { formatScope } from '../../domain/scope.ts'
import { auditEvent, auditStamp } from '../audit/event.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfEnded, type SessionCaller } from '../authenticate.ts'
import { checkAuthorizationRequest } from './check-authorization-request.ts'
import { errorTarget } from './error-target.ts'

/**
 * Records that a signed-in user said no, and gives where the app is told so. The request is checked as for a yes: only
 * a verified redirect URI may be answered at all.
 * @throws login_required, and what `checkAuthorizationRequest` refuses with
 */
export const denyAuthorization = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  request: AuthorizationRequest,
): Promise<string> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const ended = await refusalIfEnded(platform, q, stamp, session, now)
    if (ended !== null) return refused(ended)
    const checked = await checkAuthorizationRequest(q, request)
    if (checked instanceof PlatformError) return refused(checked)
    await q.audit.insert(
      auditEvent(stamp, {
        actor: { kind: 'user', id: session.user.id },
        action: 'grant.denied',
        appId: checked.app.id,
        environment: checked.client.environment,
        detail: { scope: formatScope(checked.scopes), clientId: request.clientId },
      }),
    )
    return done(errorTarget(platform, request, accessDenied))
  })
}
