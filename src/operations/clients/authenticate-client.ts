import type { Queries } from '../../../db/database.ts'
import type { AppStatus } from '../../domain/app.ts'
import { isCredentialLive, lastUsePrecisionMs } from '../../domain/credential.ts'
import type { Environment } from '../../domain/environment.ts'
import { environmentOfClientId, recordIdOfKey } from '../../domain/identifier.ts'
import { parseSecret, type SecretHash, sameHash } from '../../domain/secret.ts'

export type ClientCredentials = { readonly clientId: string; readonly clientSecret: string }

/** Credentials as they were presented: parsed and hashed before a transaction, so that none is held up by it. */
export type PresentedClient = {
  readonly clientId: string
  readonly credentialId: string
  readonly hash: SecretHash | null
}

export type AuthenticatedClient = {
  readonly credentialId: string
  readonly clientId: string
  readonly environment: Environment
  readonly appId: string
  readonly appStatus: AppStatus
  readonly appScopes: string
  readonly lastUsedAt: number | null
}

/** Asked for in the place of a malformed secret, so that it costs the same read as a wrong one. */
const nobody = `crd_${'0'.repeat(32)}`

/** Reads what was presented; the client ID says which kind of secret belongs to it. */
export const presentClient = ({ clientId, clientSecret }: ClientCredentials): PresentedClient => {
  const environment = environmentOfClientId(clientId)
  const secret =
    environment === null
      ? null
      : parseSecret(environment === 'development' ? 'clientSecretDevelopment' : 'clientSecretProduction', clientSecret)
  return {
    clientId,
    credentialId: secret === null ? nobody : recordIdOfKey('crd_', secret.key),
    hash: secret?.hash ?? null,
  }
}

/** The client, when ID and secret belong together and the secret is alive; else null. One read, whatever came. */
export const authenticateClient = async (
  q: Queries,
  presented: PresentedClient,
  now: number,
): Promise<AuthenticatedClient | null> => {
  const found = await q.credentials.find(presented.credentialId)
  if (found === null || presented.hash === null) return null
  const { credential, app, environment } = found
  if (!sameHash(credential.secretHash, presented.hash)) return null
  if (credential.clientId !== presented.clientId) return null
  if (!isCredentialLive(credential, now)) return null
  return {
    credentialId: credential.id,
    clientId: credential.clientId,
    environment,
    appId: app.id,
    appStatus: app.status,
    appScopes: app.scopes,
    lastUsedAt: credential.lastUsedAt,
  }
}

/** Whether the last use of the secret is to be recorded, which is done to the minute. */
export const isUseUnrecorded = ({ lastUsedAt }: AuthenticatedClient, now: number): boolean =>
  lastUsedAt === null || now - lastUsedAt >= lastUsePrecisionMs

/** Records the last use of the secret, to the minute. */
export const recordUse = async (q: Queries, client: AuthenticatedClient, now: number): Promise<void> => {
  if (isUseUnrecorded(client, now)) await q.credentials.touch(client.credentialId, now)
}
