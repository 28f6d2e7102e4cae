import { embeddedScopes, isEmbeddedSessionLive } from '../../domain/session.ts'
import type { ScopeName } from '../../domain/scope.ts'
import type { Platform } from '../platform.ts'
import type { UserCaller } from './authenticate-user-token.ts'
import { findEmbeddedSession } from './find-token.ts'

/** The page of an app in a frame, with the user and the install that it is open for. */
export type EmbeddedCaller = Pick<UserCaller, 'appId' | 'clientId' | 'expiresAt' | 'user'> & {
  readonly kind: 'embedded'
  readonly installId: string
  readonly scopes: readonly ScopeName[]
}

/** The caller, null for anything but a live session; and the only origin that may call with it, null for a stranger's. */
export type EmbeddedAuthentication = { readonly caller: EmbeddedCaller | null; readonly origin: string | null }

/** One prepared read of committed state. Whether the call comes from the origin is for whoever sees the request. */
export const authenticateEmbeddedSession = async (
  platform: Platform,
  text: string,
): Promise<EmbeddedAuthentication> => {
  const found = await findEmbeddedSession(platform.database.queries, text)
  if (found === null) return { caller: null, origin: null }
  const { session, ...state } = found.row
  const { origin } = session
  const { sessionIdle } = platform.lifetimes
  if (!isEmbeddedSessionLive({ ...session, ...state }, platform.clock.now(), sessionIdle))
    return { caller: null, origin }
  const caller: EmbeddedCaller = {
    kind: 'embedded',
    installId: session.installId,
    appId: state.appId,
    clientId: session.clientId,
    scopes: embeddedScopes(session.scopes, state),
    expiresAt: session.expiresAt,
    user: {
      id: state.userId,
      name: state.userName,
      email: state.userEmail,
      pictureUrl: state.userPictureUrl,
    },
  }
  return { caller, origin }
}
