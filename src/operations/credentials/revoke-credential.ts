import { type Actor, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decideToEnd, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { type CredentialRecord, credentialRecord } from './credential-record.ts'
import { announce } from '../webhooks/events.ts'

/**
 * Ends a client secret at once, and with it the app tokens it minted; users' grants go on.
 * @throws invalid_request for an unknown ID
 */
export const revokeCredential = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  credentialId: string,
): Promise<CredentialRecord> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decideToEnd(platform.database, async (q) => {
    const found = await q.credentials.find(credentialId)
    if (found === null) return refused(badInput('credential', 'There is no such credential.'))
    if (await q.credentials.revoke(credentialId, now)) {
      await announce(q, stamp, {
        actor,
        action: 'credential.revoked',
        appId: found.app.id,
        environment: found.environment,
        target: credentialId,
      })
    }
    const after = await q.credentials.find(credentialId)
    return done(credentialRecord(after?.credential ?? found.credential, found.environment, now))
  })
}
