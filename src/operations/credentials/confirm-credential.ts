import { type Actor, auditEvent, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type CredentialRecord, credentialRecord } from './credential-record.ts'

/**
 * Lets a client secret work again that a recovery has suspended; one that is not suspended stays as it is.
 * @throws invalid_request for an unknown ID
 */
export const confirmCredential = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  credentialId: string,
): Promise<CredentialRecord> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const found = await q.credentials.find(credentialId)
    if (found === null) return refused(badInput('credential', 'There is no such credential.'))
    const { credential, environment, app } = found
    if (await q.credentials.confirm(credentialId)) {
      const facts = { actor, action: 'credential.confirmed', appId: app.id, environment, target: credentialId }
      await q.audit.insert(auditEvent(stamp, facts))
    }
    return done(credentialRecord({ ...credential, suspendedAt: null }, environment, now))
  })
}
