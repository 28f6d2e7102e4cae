import { authorizationErrorOf, type AuthorizationRequest } from '../../domain/authorization-request.ts'
import { PlatformError } from '../../domain/errors.ts'
import type { RowKey } from '../../domain/identifier.ts'
import { actingAs } from '../acting-as.ts'
import type { Platform, Trace } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'
import { type Authorization, authorize } from './authorize.ts'
import { denyAuthorization } from './deny-authorization.ts'
import { errorTarget } from './error-target.ts'

/** What a person said on the consent page: the request they were shown, their answer, and the page's one-time ticket. */
export type Decided = {
  readonly request: AuthorizationRequest
  readonly answer: 'allow' | 'deny'
  readonly ticket: RowKey
}
/** Where the browser goes; with a yes, what was granted. */
type ConsentAnswer = { readonly redirectTo: string; readonly authorization: Authorization | null }

/**
 * Carries out what a person decided, exactly once: the ticket is spent in the transaction that issues the code or notes
 * the refusal. What has come to be wrong with the request since it was shown is told to the app, as before the page.
 * @throws idempotency_key_reused when the ticket was spent, login_required when the session is over, invalid_client and
 *   invalid_redirect_uri when nobody may be sent anywhere any more
 */
export const decideConsent = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  { request, answer, ticket }: Decided,
): Promise<ConsentAnswer> => {
  const acting = actingAs(platform, trace, session, { ticket })
  try {
    if (answer === 'deny') {
      return { redirectTo: await denyAuthorization(acting, trace, session, request), authorization: null }
    }
    const authorization = await authorize(acting, trace, session, request, true)
    return { redirectTo: authorization.redirectTo, authorization }
  } catch (refusal) {
    const error = refusal instanceof PlatformError ? authorizationErrorOf(refusal.code) : null
    if (error === null) throw refusal
    return { redirectTo: errorTarget(platform, request, error), authorization: null }
  }
}
