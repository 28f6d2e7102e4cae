import type { Credential, Queries } from '../../../db/database.ts'
import { maximumLiveSecrets } from '../../domain/credential.ts'
import type { Environment } from '../../domain/app.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { recordIdOfKey, rowKey } from '../../domain/identifier.ts'
import { nameFault } from '../../domain/name.ts'
import { hashSecret, mintSecret, secretDigits } from '../../domain/secret.ts'
import { findApp } from '../apps/find-app.ts'
import { type Actor, auditStamp } from '../audit/event.ts'
import { badInput } from '../bad-input.ts'
import { decide, done, refused } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { credentialRecord, type NewCredentialRecord } from './credential-record.ts'
import { announce } from '../webhooks/events.ts'

type NewCredential = {
  readonly slug: string
  readonly environment: Environment
  readonly label: string | null
}

/**
 * Mints a client secret of an app in one environment, shown in this answer and never again.
 * @throws invalid_request, too_many_secrets
 */
export const createCredential = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  input: NewCredential,
): Promise<NewCredentialRecord> => {
  const fault = input.label === null ? null : nameFault(input.label)
  if (fault !== null) throw badInput('label', fault)
  const now = platform.clock.now()
  const minted = mintClientSecret(platform, input.environment, now)
  const stamp = auditStamp(platform, trace, now)

  return await decide(platform.database, async (q) => {
    const app = await findApp(q, input.slug)
    const client = (await q.apps.clientsOf(app.id)).find(({ environment }) => environment === input.environment)
    if (client === undefined) return refused(badInput('environment', 'The app has no client in this environment.'))
    const fullness = await refusalIfFull(q, client.id, now)
    if (fullness !== null) return refused(fullness)
    const row: Credential = newCredentialRow(minted, client.id, input.label, now)
    await q.credentials.insert(row)
    await announce(q, stamp, {
      actor,
      action: 'credential.created',
      appId: app.id,
      environment: input.environment,
      target: row.id,
    })
    return done({ ...credentialRecord(row, input.environment, now), clientSecret: minted.clientSecret })
  })
}

type MintedClientSecret = Pick<Credential, 'id' | 'secretHash'> & { readonly clientSecret: string }

/** A new secret from chance, and what is stored of it. `now` is epoch milliseconds. */
export const mintClientSecret = (platform: Platform, environment: Environment, now: number): MintedClientSecret => {
  const key = rowKey(platform.random.uuid(now))
  const kind = environment === 'development' ? 'clientSecretDevelopment' : 'clientSecretProduction'
  const clientSecret = mintSecret({ kind, key, digits: platform.random.digits(secretDigits) })
  return { id: recordIdOfKey('crd_', key), clientSecret, secretHash: hashSecret(clientSecret) }
}

/** The row of a minted secret that nothing has ended or used yet. */
export const newCredentialRow = (
  minted: MintedClientSecret,
  clientId: string,
  label: string | null,
  now: number,
): Credential => ({
  id: minted.id,
  clientId,
  secretHash: minted.secretHash,
  label,
  createdAt: now,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  suspendedAt: null,
})

/** A third live secret is refused, in the transaction that would add it, so that parallel calls cannot pass together. */
export const refusalIfFull = async (q: Queries, clientId: string, now: number): Promise<PlatformError | null> =>
  (await q.credentials.liveOfClient(clientId, now)).length >= maximumLiveSecrets
    ? refuse('too_many_secrets', { details: { maximum: maximumLiveSecrets } })
    : null
