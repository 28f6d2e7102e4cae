import { graceHours as grace } from '../../domain/credential.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { type Actor, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { mintClientSecret, newCredentialRow, refusalIfFull } from './create-credential.ts'
import { credentialRecord, type NewCredentialRecord } from './credential-record.ts'
import { findClient } from './find-client.ts'
import { announce } from '../webhooks/events.ts'

type Rotation = { readonly clientId: string; readonly graceHours: number }

/**
 * Mints a new secret and lets the one before it end when the grace is over; 0 hours end it at once, and with it the
 * app tokens it minted. A third live secret is refused.
 * @throws invalid_request, too_many_secrets
 */
export const rotateCredential = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: Rotation,
): Promise<NewCredentialRecord> => {
  const environment = environmentOfClientId(input.clientId)
  if (environment === null) throw badInput('clientId', 'There is no such client.')
  if (!Number.isInteger(input.graceHours) || input.graceHours < 0 || input.graceHours > grace.maximum) {
    throw badInput('graceHours', `The grace is a whole number of hours from 0 to ${grace.maximum}.`)
  }
  const now = platform.clock.now()
  const minted = mintClientSecret(platform, environment, now)
  const stamp = auditStamp(platform, trace, now)

  return await decide(platform.database, async (q) => {
    const { app } = await findClient(q, input.clientId)
    // Without grace the old ones end as the new one begins: there is no third, and an exposed secret cannot wait.
    const fullness = input.graceHours === 0 ? null : await refusalIfFull(q, input.clientId, now)
    if (fullness !== null) return refused(fullness)
    const endsAt = now + input.graceHours * 3_600_000
    const before = await q.credentials.liveOfClient(input.clientId, now)
    for (const old of before) await q.credentials.setExpiry(old.id, Math.min(old.expiresAt ?? endsAt, endsAt))
    const row = newCredentialRow(minted, input.clientId, before.at(-1)?.label ?? null, now)
    await q.credentials.insert(row)
    await announce(q, stamp, {
      actor,
      action: 'credential.rotated',
      appId: app.id,
      environment,
      target: row.id,
      detail: { replaces: before.map((old) => old.id), graceHours: input.graceHours },
    })
    return done({ ...credentialRecord(row, environment, now), clientSecret: minted.clientSecret })
  })
}
