import type { Grant } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { type AuditFacts, lazyAuditStamp } from '../audit/event.ts'
import {
  authenticateClient,
  type ClientCredentials,
  presentClient,
  recordUse,
  refuseClient,
} from '../authenticate-client.ts'
import { type OpenChange, type CountedRefusal, decideToEnd, prepareChange, settle, toEnd } from '../decision.ts'
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
 * suspended app may still revoke.
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
  const secret = parseAnySecret(token)
  const open = prepareChange(platform, trace, { kind: 'app', id: credentials.clientId }, now)
  const outcome = await platform.database.transaction(async (q): Promise<null | PlatformError | CountedRefusal> => {
    const change = open(q)
    const client = await authenticateClient(q, presented, now)
    if (client === null) return await refuseClient(q, presented, 'token.revoke')
    await recordUse(q, client, now)
    const found = secret === null ? null : await ownerOf(change, secret)
    if (found === null) return null
    const { appId, environment } = client
    if (found.clientId !== client.clientId) {
      await change.record({ action: 'token.revoke', appId, environment, refusedWith: 'token_not_owned' })
      return refuse('token_not_owned')
    }
    if (found.kind === 'grant') {
      await endGrant(change, found.grant)
    } else {
      const event = await found.end()
      if (event !== null) await change.record({ ...event, appId, environment })
    }
    return null
  }, toEnd)
  await settle(platform, lazyAuditStamp(platform, trace, now), outcome)
}

/** A live token revokes itself. A user access token ends its whole grant. */
export const revokeByToken = async (
  platform: Platform,
  trace: Trace,
  caller: AppCaller | UserCaller,
): Promise<void> => {
  await decideToEnd(platform, trace, actorOf(caller), async (change) => {
    const { q, now, record } = change
    if (caller.kind === 'user') {
      const grant = await q.grants.byId(caller.grantId)
      if (grant !== null) await endGrant(change, grant)
      return null
    }
    const { app, environment, credentialId: target } = caller
    const issuedIn = await q.appTokens.revoke(caller.tokenKey, now)
    if (issuedIn !== null) {
      await record({ action: 'app_token.revoked', appId: app.id, environment, target, detail: { issuedIn } })
    }
    return null
  })
}

/**
 * A user revokes a grant.
 * @throws grant_not_found for an unknown grant and for another user's
 */
export const revokeByUser = async (
  platform: Platform,
  trace: Trace,
  session: SessionCaller,
  grantId: string,
): Promise<void> => {
  await decideToEnd(platform, trace, actorOf(session), async (change) => {
    const grant = await change.q.grants.byId(grantId)
    if (grant === null || grant.userId !== session.user.id) return refuse('grant_not_found', { param: 'grantId' })
    await endGrant(change, grant)
    return null
  })
}

type EndableGrant = Pick<Grant, 'id' | 'clientId' | 'appId'>

type OwnedToken =
  | { readonly kind: 'grant'; readonly clientId: string; readonly grant: EndableGrant }
  | {
      readonly kind: 'single'
      readonly clientId: string
      /** Returns the event to record; null if it had already ended. */
      readonly end: () => Promise<Pick<AuditFacts, 'action' | 'target' | 'detail'> | null>
    }

/** The owner of a token in whatever state. Its prefix says what kind it is, so a type hint is not needed. */
const ownerOf = async ({ q, now }: OpenChange, secret: PresentedSecret): Promise<OwnedToken | null> => {
  switch (secret.kind) {
    case 'appToken': {
      const row = await findAppToken(q, secret)
      if (row === null) return null
      const end = async () => {
        // The event of its issue tells which of the credential's tokens it was.
        const issuedIn = await q.appTokens.revoke(row.key, now)
        const event = { action: 'app_token.revoked', target: row.credentialId, detail: { issuedIn } }
        return issuedIn === null ? null : event
      }
      return { kind: 'single', clientId: row.clientId, end }
    }
    case 'userAccessToken': {
      const row = await findAccessToken(q, secret)
      if (row === null) return null
      const { grantId: id, clientId, appId } = row
      return { kind: 'grant', clientId, grant: { id, clientId, appId } }
    }
    case 'refreshToken': {
      const grant = (await findRefreshToken(q, secret))?.grant
      return grant === undefined ? null : { kind: 'grant', clientId: grant.clientId, grant }
    }
    // A code is not a token, but a client that was told it is revoked must not find it usable.
    case 'authorizationCode': {
      const grant = (await findAuthorizationCode(q, secret))?.grant
      return grant === undefined ? null : { kind: 'grant', clientId: grant.clientId, grant }
    }
    case 'embeddedSession': {
      const session = (await findEmbeddedSession(q, secret))?.session
      if (session === undefined) return null
      const event = { action: 'embedded_session.revoked', target: session.installId }
      const end = async () => ((await q.embedding.endSession(secret.key, now)) ? event : null)
      return { kind: 'single', clientId: session.clientId, end }
    }
    case 'installSessionCode': {
      const code = (await findInstallSessionCode(q, secret))?.code
      if (code === undefined) return null
      const event = { action: 'install_session_code.revoked', target: code.installId }
      const end = async () =>
        (await q.embedding.spendCode(secret.key, { spentAt: now, gaveKey: null, spentFrom: null })) ? event : null
      return { kind: 'single', clientId: code.clientId, end }
    }
    default:
      return null
  }
}

/** Ends the grant. Every code and token of its family is refused from this transaction on. */
const endGrant = async ({ q, now, record }: OpenChange, { id, clientId, appId }: EndableGrant): Promise<void> => {
  if (!(await q.grants.revoke(id, now))) return
  await record({ action: 'grant.revoked', appId, environment: environmentOfClientId(clientId), target: id })
}
