import type { Grant, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { type Actor, type AuditFacts, type AuditStamp, auditEvent, auditStamp, lazyAuditStamp } from '../audit/event.ts'
import {
  authenticateClient,
  type ClientCredentials,
  presentClient,
  recordUse,
  refuseClient,
} from '../authenticate-client.ts'
import { type CountedRefusal, type Decision, decideToEnd, done, refused, settle, toEnd } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { AppCaller, SessionCaller, UserCaller } from '../authenticate.ts'
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
import { announce } from '../webhooks/events.ts'

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
  const stamp = lazyAuditStamp(platform, trace, now)
  const decision = await platform.database.transaction(async (q): Promise<Decision<null> | CountedRefusal> => {
    const client = await authenticateClient(q, presented, now)
    if (client === null) return await refuseClient(q, presented, 'token.revoke')
    await recordUse(q, client, now)
    const found = secret === null ? null : await ownerOf(q, secret)
    if (found === null) return done(null)
    const actor = { kind: 'app', id: client.clientId } as const
    const facts = { actor, action: 'token.revoke', appId: client.appId, environment: client.environment }
    if (found.clientId !== client.clientId) {
      await q.audit.insert(auditEvent(stamp(), { ...facts, refusedWith: 'token_not_owned' }))
      return refused(refuse('token_not_owned'))
    }
    if (found.kind === 'grant') return await endGrant(q, stamp(), found.grant, actor, now)
    const event = await found.end(now)
    if (event !== null) await q.audit.insert(auditEvent(stamp(), { ...facts, ...event }))
    return done(null)
  }, toEnd)
  await settle(platform, stamp, decision)
}

/** A live token revokes itself. A user access token ends its whole grant. */
export const revokeByToken = async (
  platform: Platform,
  trace: Trace,
  caller: AppCaller | UserCaller,
): Promise<void> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const actor = { kind: 'app', id: caller.clientId } as const
  await decideToEnd(platform.database, async (q) => {
    if (caller.kind === 'user') {
      const grant = await q.grants.byId(caller.grantId)
      return grant === null ? done(null) : await endGrant(q, stamp, grant, actor, now)
    }
    const issuedIn = await q.appTokens.revoke(caller.tokenKey, now)
    if (issuedIn !== null) {
      await q.audit.insert(
        auditEvent(stamp, {
          actor,
          action: 'app_token.revoked',
          appId: caller.app.id,
          environment: caller.environment,
          target: caller.credentialId,
          detail: { issuedIn },
        }),
      )
    }
    return done(null)
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
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  const userId = session.user.id
  await decideToEnd(platform.database, async (q) => {
    const grant = await q.grants.byId(grantId)
    if (grant === null || grant.userId !== userId) return refused(refuse('grant_not_found', { param: 'grantId' }))
    return await endGrant(q, stamp, grant, { kind: 'user', id: userId }, now)
  })
}

type EndableGrant = Pick<Grant, 'id' | 'clientId' | 'appId'>

type OwnedToken =
  | { readonly kind: 'grant'; readonly clientId: string; readonly grant: EndableGrant }
  | {
      readonly kind: 'single'
      readonly clientId: string
      /** Returns the event to record; null if it had already ended. */
      readonly end: (now: number) => Promise<Pick<AuditFacts, 'action' | 'target' | 'detail'> | null>
    }

/** The owner of a token in whatever state. Its prefix says what kind it is, so a type hint is not needed. */
const ownerOf = async (q: Queries, secret: PresentedSecret): Promise<OwnedToken | null> => {
  switch (secret.kind) {
    case 'appToken': {
      const row = await findAppToken(q, secret)
      if (row === null) return null
      const end = async (now: number) => {
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
      const end = async (now: number) => ((await q.embedding.endSession(secret.key, now)) ? event : null)
      return { kind: 'single', clientId: session.clientId, end }
    }
    case 'installSessionCode': {
      const code = (await findInstallSessionCode(q, secret))?.code
      if (code === undefined) return null
      const event = { action: 'install_session_code.revoked', target: code.installId }
      const end = async (now: number) =>
        (await q.embedding.spendCode(secret.key, { spentAt: now, gaveKey: null, spentFrom: null })) ? event : null
      return { kind: 'single', clientId: code.clientId, end }
    }
    default:
      return null
  }
}

/** Ends the grant. Every code and token of its family is refused from this transaction on. */
const endGrant = async (
  q: Queries,
  stamp: AuditStamp,
  grant: EndableGrant,
  actor: Actor,
  now: number,
): Promise<Decision<null>> => {
  if (await q.grants.revoke(grant.id, now)) {
    await announce(q, stamp, {
      actor,
      action: 'grant.revoked',
      appId: grant.appId,
      environment: environmentOfClientId(grant.clientId),
      target: grant.id,
    })
  }
  return done(null)
}
