import type { AuditAction } from '../domain/audit-action.ts'
import type { Queries } from '../../db/database.ts'
import { andThen, type Awaitable } from '../domain/awaitable.ts'
import { credentialStatus, isSecretUseUnrecorded } from '../domain/credential.ts'
import { type PlatformError, refuse } from '../domain/errors.ts'
import { environmentOfClientId, noAppId, recordIdOfKey } from '../domain/identifier.ts'
import { hashSecret, parseSecret } from '../domain/secret.ts'
import { CountedRefusal } from './decide.ts'
import { findClientSecret } from './find-token.ts'
import { anonymous } from './audit/event.ts'

export type ClientCredentials = { readonly clientId: string; readonly clientSecret: string }

/** Credentials as they were presented, parsed and hashed before a transaction so that it does not wait for that. */
type PresentedClient = ReturnType<typeof presentClient>

export type AuthenticatedClient = NonNullable<Awaited<ReturnType<typeof authenticateClient>>>

/** Looked up instead of a malformed secret, so that it costs the same reads as a wrong one. */
const nobody = { credentialId: `crd_${'0'.repeat(32)}`, hash: hashSecret('') }

/** Parses the credentials. The environment in the client ID says which kind of secret belongs to it. */
export const presentClient = ({ clientId, clientSecret }: ClientCredentials) => {
  const environment = environmentOfClientId(clientId)
  const secret =
    environment === null
      ? null
      : parseSecret(environment === 'development' ? 'clientSecretDevelopment' : 'clientSecretProduction', clientSecret)
  if (secret === null) return { clientId, ...nobody }
  return { clientId, credentialId: recordIdOfKey('crd_', secret.key), hash: secret.hash }
}

/** The client if the ID and the secret belong together and the secret is live; otherwise null. One read on success. */
export const authenticateClient = (q: Queries, presented: PresentedClient, now: number) => {
  const secret = { key: presented.credentialId, hash: presented.hash }
  return andThen(findClientSecret(q, secret), (found) => {
    if (found === null) return null
    const { credential, app, environment } = found
    if (credential.clientId !== presented.clientId) return null
    if (credentialStatus(credential, now) !== 'live') return null
    return {
      credentialId: credential.id,
      clientId: credential.clientId,
      environment,
      appId: app.id,
      appStatus: app.status,
      /** What its own tokens can have. */
      tokenScopes: app.tokenScopes,
      lastUsedAt: credential.lastUsedAt,
    }
  })
}

/** Records the last use of the secret, to the minute, in the transaction of what it is used for. */
export const touchSecret = (q: Queries, client: AuthenticatedClient, now: number): Awaitable<void> =>
  isSecretUseUnrecorded(client, now) ? q.credentials.touch(client.credentialId, now) : undefined

/**
 * The refusal of a client that could not be authenticated. An unknown or malformed ID and a wrong, malformed or ended
 * secret give the same answer.
 */
export const refuseClient = async (q: Queries, { clientId }: PresentedClient, action: AuditAction) =>
  new CountedRefusal(refuse('invalid_client'), { ...(await claimedTrail(q, clientId)), action })

/** The refusal of a client whose secret was right but whose request is not allowed. */
export const refuseKnownClient = (
  client: AuthenticatedClient,
  action: AuditAction,
  fault: PlatformError,
): CountedRefusal =>
  new CountedRefusal(fault, {
    actor: { kind: 'app', id: client.clientId },
    action,
    appId: client.appId,
    environment: client.environment,
    target: client.credentialId,
  })

/**
 * Whose audit trail the refusal of a claimed client ID belongs to: its app's, or that of no app. An unknown ID costs the same
 * reads and writes, so that the time taken does not tell which IDs exist.
 */
export const claimedTrail = async (q: Queries, clientId: string) => {
  const environment = environmentOfClientId(clientId)
  const appId = await q.apps.idOfClient(environment === null ? '' : clientId)
  const actor = anonymous
  return appId === null ? { actor, appId: noAppId } : { actor, appId, environment, target: clientId }
}
