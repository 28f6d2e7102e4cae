import type { Queries } from '../../../db/database.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { parseSecret, sameHash } from '../../domain/secret.ts'
import { type AuditFacts, auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'

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
  const app = parseSecret('appToken', text)
  if (app !== null) {
    const found = await q.appTokens.find(app.key)
    if (found === null || !sameHash(found.hash, app.hash)) return {}
    return { appId: found.appId, environment: found.environment, target: found.credentialId }
  }
  const access = parseSecret('userAccessToken', text)
  if (access !== null) {
    const found = await q.grants.findAccess(access.key)
    if (found === null || !sameHash(found.hash, access.hash)) return {}
    return { appId: found.appId, environment: environmentOfClientId(found.clientId), target: found.grantId }
  }
  const session = parseSecret('session', text)
  const found = session === null ? null : await q.sessions.find(session.key)
  if (found === null || session === null || !sameHash(found.session.hash, session.hash)) return {}
  return { target: found.user.id }
}
