import type { Queries } from '../../../db/database.ts'
import { isAppTokenLive } from '../../domain/app-token.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { isSessionLive } from '../../domain/session.ts'
import type { AppCaller } from './authenticate-app-token.ts'
import type { SessionCaller } from './authenticate-session.ts'

/**
 * Reads the caller's state once more inside the writing transaction, so that a revocation which has answered stops a
 * write that was authenticated a moment before it. Null when the caller is still who it was.
 */
export const refusalIfEnded = async (
  q: Queries,
  caller: AppCaller | SessionCaller,
  now: number,
): Promise<PlatformError | null> => {
  if (caller.kind === 'app') {
    const found = await q.appTokens.find(caller.tokenKey)
    return found !== null && isAppTokenLive(found, now) ? null : refuse('invalid_token')
  }
  const found = await q.sessions.find(caller.sessionKey)
  const live = found !== null && isSessionLive({ ...found.session, userStatus: found.user.status }, now)
  return live ? null : refuse('login_required')
}
