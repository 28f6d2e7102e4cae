import type { Queries } from '../../../db/database.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { type AuditFacts, auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { findAccessToken, findAppToken, findEmbeddedSession, findSession } from './find-token.ts'

/**
 * Leaves the audit row of a refused bearer credential or session; one that was issued once and is over is in the trail
 * of its app or user. The refusal stands whether or not the row could be written, so a store that takes no writes never
 * turns a no into anything else.
 */
export const recordRefusal = async (
  platform: Platform,
  trace: Trace,
  token: string,
  refusedWith: ErrorCode,
): Promise<void> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  try {
    await platform.database.transaction(async (q) => {
      const facts = { actor: { kind: 'anonymous' }, action: 'bearer.check', refusedWith } as const
      await q.audit.insert(auditEvent(stamp, { ...facts, ...(await whatItWas(q, token)) }))
    })
  } catch {
    // The caller is refused all the same; the engine has reported why it takes no writes.
  }
}

type Trail = Pick<AuditFacts, 'appId' | 'environment' | 'target'>

/** What a token belonged to, alive or not; nothing for one that was never issued. */
const whatItWas = async (q: Queries, text: string): Promise<Trail> => {
  const app = await findAppToken(q, text)
  if (app !== null) return { appId: app.row.appId, environment: app.row.environment, target: app.row.credentialId }
  const access = await findAccessToken(q, text)
  if (access !== null) {
    const { appId, clientId, grantId } = access.row
    return { appId, environment: environmentOfClientId(clientId), target: grantId }
  }
  const embedded = await findEmbeddedSession(q, text)
  if (embedded !== null) {
    const { appId, environment, session } = embedded.row
    return { appId, environment, target: session.installId }
  }
  const session = await findSession(q, text)
  return session === null ? {} : { target: session.row.user.id }
}
