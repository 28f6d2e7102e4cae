import type { Grant } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import type { TimeKey } from '../../domain/time-key.ts'
import { type AuditFacts } from '../audit/event.ts'
import {
  authenticateClient,
  type ClientCredentials,
  presentClient,
  touchSecret,
  refuseClient,
} from '../authenticate-client.ts'
import { decide, type OpenChange } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { actorOf, type AppCaller, type SessionCaller, type UserCaller } from '../authenticate.ts'
import {
  findAccessToken,
  findAppToken,
  findAuthorizationCode,
  findEmbeddedSession,
  findInstallSessionCode,
  findRefreshToken,
  parseAnySecret,
  type PresentedSecret,
} from '../find-token.ts'

/**
 * An app revokes one of its tokens. A token or code of a grant ends the whole grant. An app token, an embedded session and
 * an install-session code end only themselves. An unknown or ended token is not an error (RFC 7009 section 2.2). A
 * suspended app may still revoke. Space around the token, as from the end of a file, is not part of it: who sends it so must not believe
 * that it has ended.
 * @throws invalid_client, token_not_owned
 */
export const revokeByClient = async (
  platform: Platform,
  trace: Trace,
  credentials: ClientCredentials,
  token: string,
): Promise<void> => {
  const now = platform.clock.now()
  const presented = presentClient(credentials)
  const secret = parseAnySecret(token.trim())
  const actor = { kind: 'app', id: credentials.clientId } as const
  await decide(platform, trace, { actor, now, kind: 'guarded', endsAccess: true }, async (change) => {
    const { q } = change
    const client = await authenticateClient(q, presented, now)
    if (client === null) return await refuseClient(q, presented, 'token.revoke')
    // Its token first, as in an exchange: then whoever has locked a grant never waits for a secret that waits for the grant.
    const found = secret === null ? null : await findOwned(change, secret)
    const isOwn = found?.clientId === client.clientId
    const ended = isOwn ? await found.end() : null
    await touchSecret(q, client, now)
    if (found === null) return null
    const { appId, environment } = client
    if (!isOwn) {
      await change.record({ action: 'token.revoke', appId, environment, refusedWith: 'token_not_owned' })
      return refuse('token_not_owned')
    }
    if (ended !== null) await change.record({ ...ended, appId, environment })
    return null
  })
}

/** A live token revokes itself. A user access token ends its whole grant. */
export const revokeByToken = async (platform: Platform, trace: Trace, caller: AppCaller | UserCaller) => {
  await decide(platform, trace, { actor: actorOf(caller), kind: 'guarded', endsAccess: true }, async (change) => {
    const { record } = change
    if (caller.kind === 'user') {
      const environment = environmentOfClientId(caller.clientId)
      const ended = await endGrant(change, { id: caller.grantId, userId: caller.user.id })
      if (ended !== null) await record({ ...ended, appId: caller.appId, environment })
    } else {
      const ended = await endAppToken(change, caller.tokenKey, caller.credentialId)
      if (ended !== null) await record({ ...ended, appId: caller.app.id, environment: caller.environment })
    }
    return null
  })
}

/**
 * A user revokes a grant.
 * @throws grant_not_found for an unknown grant and for another user's
 */
export const revokeByUser = async (platform: Platform, trace: Trace, session: SessionCaller, grantId: string) => {
  await decide(platform, trace, { actor: actorOf(session), kind: 'guarded', endsAccess: true }, async (change) => {
    const grant = await change.q.grants.byId(grantId)
    if (grant === null || grant.userId !== session.user.id) return refuse('grant_not_found', { param: 'grantId' })
    const environment = environmentOfClientId(grant.clientId)
    const ended = await endGrant(change, grant)
    if (ended !== null) await change.record({ ...ended, appId: grant.appId, environment })
    return null
  })
}

/** What was ended, for the audit. */
type Ended = Pick<AuditFacts, 'action' | 'target' | 'detail' | 'told'>
/** The client of a token, and the way to end the token, which returns null if it had already ended. */
type OwnedToken = { readonly clientId: string; readonly end: () => Promise<Ended | null> }

/** The owner of a token in whatever state. Its prefix says what kind it is, so a type hint is not needed. */
const findOwned = async (change: OpenChange, secret: PresentedSecret): Promise<OwnedToken | null> => {
  const { q, now } = change
  const ofGrant = (grant: Pick<Grant, 'id' | 'userId' | 'clientId'>) => ({
    clientId: grant.clientId,
    end: async () => await endGrant(change, grant),
  })
  switch (secret.kind) {
    case 'appToken': {
      const row = await findAppToken(q, secret)
      return row && { clientId: row.clientId, end: async () => await endAppToken(change, row.key, row.credentialId) }
    }
    case 'userAccessToken': {
      const row = await findAccessToken(q, secret)
      return row && ofGrant({ ...row, id: row.grantId })
    }
    case 'refreshToken': {
      const found = await findRefreshToken(q, secret)
      return found && ofGrant(found.grant)
    }
    // A code is not a token, but a client that was told it is revoked must not find it usable.
    case 'authorizationCode': {
      const found = await findAuthorizationCode(q, secret)
      return found && ofGrant(found.grant)
    }
    case 'embeddedSession': {
      const session = (await findEmbeddedSession(q, secret))?.session
      if (session === undefined) return null
      const event = { action: 'embedded_session.revoked', target: session.installId } as const
      return {
        clientId: session.clientId,
        end: async () => ((await q.embedding.endSession(secret.key, now)) ? event : null),
      }
    }
    case 'installSessionCode': {
      const code = (await findInstallSessionCode(q, secret))?.code
      if (code === undefined) return null
      const event = { action: 'install_session_code.revoked', target: code.installId } as const
      const use = { spentAt: now, gaveKey: null, spentFrom: null }
      return {
        clientId: code.clientId,
        end: async () => ((await q.embedding.spendCode(secret.key, use)) ? event : null),
      }
    }
    default:
      return null
  }
}

/** Ends the grant. Every code and token of its family is refused from this transaction on. */
const endGrant = async ({ q, now }: OpenChange, { id, userId }: Pick<Grant, 'id' | 'userId'>): Promise<Ended | null> =>
  (await q.grants.revoke(id, now)) ? { action: 'grant.revoked', target: id, told: { userId } } : null

/** Ends one app token. The event of its issue tells which of the credential's tokens it was. */
const endAppToken = async ({ q, now }: OpenChange, key: TimeKey, credentialId: string): Promise<Ended | null> => {
  const issuedIn = await q.appTokens.revoke(key, now)
  return issuedIn === null ? null : { action: 'app_token.revoked', target: credentialId, detail: { issuedIn } }
}
