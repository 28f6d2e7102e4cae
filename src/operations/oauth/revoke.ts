import type { Grant, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId, recordIdOfKey } from '../../domain/identifier.ts'
import { type Actor, type AuditFacts, type AuditStamp, auditEvent, auditStamp } from '../audit/event.ts'
import { authenticateClient, type ClientCredentials, presentClient, recordUse } from '../clients/authenticate-client.ts'
import { refuseClient } from '../clients/refuse-client.ts'
import { type Decision, decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import type { AppCaller } from '../tokens/authenticate-app-token.ts'
import type { SessionCaller } from '../tokens/authenticate-session.ts'
import type { UserCaller } from '../tokens/authenticate-user-token.ts'
import {
  findAccessToken,
  findAppToken,
  findAuthorizationCode,
  findEmbeddedSession,
  findInstallSessionCode,
  findRefreshToken,
} from '../tokens/find-token.ts'
import { announce } from '../webhooks/events.ts'

/**
 * An app revokes a token of its own: any token or code of a grant ends the whole grant; an app token and the code and the
 * session of a frame end themselves. A token that is unknown or already dead is no error (RFC 7009 section 2.2). A
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
  const stamp = auditStamp(platform, trace, now)
  await decideToEnd(platform.database, async (q) => {
    const client = await authenticateClient(q, presented, now)
    if (client === null) return await refuseClient(q, platform.refusals, stamp, 'token.revoke', presented)
    await recordUse(q, client, now)
    const found = await ownerOf(q, token)
    if (found === null) return done(null)
    const actor = { kind: 'app', id: client.clientId } as const
    const facts = { actor, action: 'token.revoke', appId: client.appId, environment: client.environment }
    if (found.clientId !== client.clientId) {
      await q.audit.insert(auditEvent(stamp, { ...facts, refusedWith: 'token_not_owned' }))
      return refused(refuse('token_not_owned'))
    }
    if (found.kind === 'grant') return await endGrant(q, stamp, found.grant, actor, now)
    if (await found.end(now)) await q.audit.insert(auditEvent(stamp, { ...facts, ...found.event }))
    return done(null)
  })
}

/** A live token revokes itself; a user access token takes its whole grant with it. */
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
    if (await q.appTokens.revoke(caller.tokenKey, now)) {
      await q.audit.insert(
        auditEvent(stamp, {
          actor,
          action: 'app_token.revoked',
          appId: caller.app.id,
          environment: caller.environment,
          target: caller.credentialId,
          detail: issueOf(caller.tokenKey),
        }),
      )
    }
    return done(null)
  })
}

/** Which of the credential's tokens it is: the event of its issue, which bears the token's own UUID. */
const issueOf = (key: string) => ({ issuedIn: recordIdOfKey('aud_', key) })

/**
 * A user takes a grant back.
 * @throws grant_not_found also for another user's
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
      /** False when it had ended before. */
      readonly end: (now: number) => Promise<boolean>
      readonly event: Pick<AuditFacts, 'action' | 'target' | 'detail'>
    }

/** Whose token it is, dead or alive. The prefix says where to look, so a type hint is not needed. */
const ownerOf = async (q: Queries, text: string): Promise<OwnedToken | null> => {
  const app = await findAppToken(q, text)
  if (app !== null) {
    const { clientId, credentialId: target } = app.row
    const event = { action: 'app_token.revoked', target, detail: issueOf(app.key) }
    return { kind: 'single', clientId, event, end: async (now) => await q.appTokens.revoke(app.key, now) }
  }
  const access = await findAccessToken(q, text)
  if (access !== null) {
    const { grantId, clientId, appId } = access.row
    return { kind: 'grant', clientId, grant: { id: grantId, clientId, appId } }
  }
  // A code is no token, but whoever is told that it was revoked must not find it alive.
  const other = (await findRefreshToken(q, text)) ?? (await findAuthorizationCode(q, text))
  if (other !== null) return { kind: 'grant', clientId: other.row.grant.clientId, grant: other.row.grant }
  return await ownerOfFrame(q, text)
}

/** The session of a page in a frame, and the code that it would get one for. */
const ownerOfFrame = async (q: Queries, text: string): Promise<OwnedToken | null> => {
  const found = await findEmbeddedSession(q, text)
  if (found !== null) {
    const { clientId, installId: target } = found.row.session
    const event = { action: 'embedded_session.revoked', target }
    return { kind: 'single', clientId, event, end: async (now) => await q.embedding.endSession(found.key, now) }
  }
  const code = await findInstallSessionCode(q, text)
  if (code === null) return null
  const { clientId, installId: target } = code.row.code
  const event = { action: 'install_session_code.revoked', target }
  const end = async (now: number) =>
    await q.embedding.spendCode(code.key, { spentAt: now, gaveKey: null, spentFrom: null })
  return { kind: 'single', clientId, event, end }
}

/** Ends the grant; whatever is left of its family is refused from this transaction on. */
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
