import type { EmbeddedSession, Queries } from '../../../db/database.ts'
import { embeddedScopes, embeddingFault, isOwnRepeat } from '../../domain/session.ts'
import type { Environment } from '../../domain/app.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { type RowKey, rowKey } from '../../domain/identifier.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { formatScope } from '../../domain/scope.ts'
import { hashSecret, mintSecret, secretDigits, parseSecret, type ParsedSecret } from '../../domain/secret.ts'
import { isValidAt } from '../../domain/lifetimes.ts'
import { type AuditFacts, type AuditStamp, auditEvent, auditStamp } from '../audit/event.ts'
import { type RefusalLog, tellRefusal } from '../audit/refusal-log.ts'
import { type Decision, decide, done, refused } from '../decision.ts'
import { claimedTrail } from '../authenticate-client.ts'
import type { Platform, Trace } from '../platform.ts'
import { findInstallSessionCode } from '../find-token.ts'

/** What the page in the frame presents, and the origin that its browser says it has; null when it says none. */
export type CodeExchange = { readonly clientId: string; readonly code: string; readonly origin: string | null }

type IssuedEmbeddedSession = {
  readonly sessionToken: string
  readonly expiresInSeconds: number
  readonly scope: string
  readonly appId: string
  readonly userId: string
  readonly install: {
    readonly id: string
    readonly environment: Environment
    readonly kind: ResourceKind
    readonly resource: string
  }
}

type FoundCode = NonNullable<Awaited<ReturnType<Queries['embedding']['findCode']>>>
type Attempt = {
  readonly q: Queries
  readonly refusals: RefusalLog
  readonly stamp: AuditStamp
  readonly now: number
  readonly idleSeconds: number
  readonly presented: ParsedSecret | null
  readonly request: CodeExchange
}

/**
 * Exchanges an install-session code for an embedded session. Everything is checked first and the code is consumed last, in the
 * transaction that issues: of any number of parallel calls one wins. A failed attempt spends nothing. A spent code that comes
 * back ends the session it gave, unless the page that spent it has sent it twice.
 * @throws invalid_grant for an unknown, spent or expired code, another client, and a user or session that has ended;
 *   origin_not_allowed; app_inactive, install_required
 */
export const exchangeInstallSessionCode = async (
  platform: Platform,
  trace: Trace,
  request: CodeExchange,
): Promise<IssuedEmbeddedSession> => {
  const now = platform.clock.now()
  const presented = parseSecret('installSessionCode', request.code)
  const key = rowKey(platform.random.uuid(now))
  const sessionToken = mintSecret({ kind: 'embeddedSession', key, digits: platform.random.digits(secretDigits) })
  const hash = hashSecret(sessionToken)
  const stamp = auditStamp(platform, trace, now)
  let isReplayed = false
  const issued = await decide(platform.database, async (q) => {
    const idleSeconds = platform.lifetimes.sessionIdle
    const attempt = { q, refusals: platform.refusals, stamp, now, idleSeconds, presented, request }
    const found = await findCode(attempt)
    isReplayed = found !== null && found.code.spentAt !== null
    if (found === null) return await refuseCode(attempt, null, refuse('invalid_grant'))
    if (isReplayed) return await refuseReplay(attempt, found)
    const fault = codeFault(attempt, found)
    if (fault !== null) return await refuseCode(attempt, found, fault)
    const use = { spentAt: now, gaveKey: key, spentFrom: trace.address }
    // Read and spent in one serializable transaction: nobody can have spent it in between.
    if (!(await q.embedding.spendCode(found.code.key, use))) throw new Error('a code was spent within a transaction')
    const session = sessionOf(found, { key, hash, now, lifetimeMs: platform.lifetimes.embeddedSession * 1000 })
    await q.embedding.insertSession(session)
    return await issueSession(attempt, found, session)
  }).finally(() => {
    if (isReplayed) platform.observe.reused('install_session_code')
  })
  return { ...issued, sessionToken }
}

/** The code that was presented, in whatever state it is; null for one that never was, and for another client's. */
const findCode = async ({ q, presented, request }: Attempt): Promise<FoundCode | null> => {
  const found = presented === null ? null : await findInstallSessionCode(q, presented)
  return found?.code.clientId === request.clientId ? found : null
}

/** Why an unspent code of this client gives no session; in order. */
const codeFault = ({ request, now, idleSeconds }: Attempt, found: FoundCode): PlatformError | null => {
  if (found.code.origin !== request.origin) return refuse('origin_not_allowed', { message: wrongOrigin })
  if (!isValidAt(found.code, now)) return refuse('invalid_grant')
  const fault = embeddingFault(found, now, idleSeconds)
  return fault === null ? null : refuse(fault)
}

/** A spent code came back, be it long expired: if somebody else may hold it, they may hold the session, too. */
const refuseReplay = async (attempt: Attempt, found: FoundCode): Promise<Decision<never>> => {
  const { q, stamp, now, request } = attempt
  const { code } = found
  const isHarmless = isOwnRepeat({ code, origin: request.origin, address: stamp.address }, now)
  const sessionEnded = !isHarmless && code.gaveKey !== null && (await q.embedding.endSession(code.gaveKey, now))
  return await refuseCode(attempt, found, refuse('invalid_grant'), {
    action: 'install_session_code.reuse_detected',
    detail: { sessionEnded },
  })
}

export const wrongOrigin = 'Only pages of the origin that the app was opened with may make this call.'

/** It ends when the user's session would, if that is sooner. */
const sessionOf = (
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

const issueSession = async (
  { q, stamp, now }: Attempt,
  found: FoundCode,
  session: EmbeddedSession,
): Promise<Decision<Omit<IssuedEmbeddedSession, 'sessionToken'>>> => {
  const place = await q.installs.find(session.installId)
  if (place === null) throw new Error('an install is gone within its own transaction')
  const detail = { scope: session.scopes }
  await q.audit.insert(auditEvent(stamp, { ...trailOf(found), action: 'embedded_session.issued', detail }))
  return done({
    expiresInSeconds: Math.floor((session.expiresAt - now) / 1000),
    scope: session.scopes,
    appId: found.appId,
    userId: found.userId,
    install: {
      id: session.installId,
      environment: found.environment,
      kind: place.kind,
      resource: place.resourceSlug,
    },
  })
}

/** A code of another client, or none, is in the trail of the client that was claimed, and names no install. */
const refuseCode = async (
  { q, refusals, stamp, request }: Attempt,
  found: FoundCode | null,
  refusal: PlatformError,
  event: Pick<AuditFacts, 'action' | 'detail'> = { action: 'embedded_session.issue' },
): Promise<Decision<never>> => {
  const trail = found === null ? await claimedTrail(q, request.clientId) : trailOf(found)
  await tellRefusal(q, refusals, auditEvent(stamp, { ...trail, ...event, refusedWith: refusal.code }))
  return refused(refusal)
}

const trailOf = ({ code, appId, environment }: FoundCode) => ({
  actor: { kind: 'app', id: code.clientId } as const,
  appId,
  environment,
  target: code.installId,
})
