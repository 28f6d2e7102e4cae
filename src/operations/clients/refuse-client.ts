import type { Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { auditEvent, type AuditStamp } from '../audit/event.ts'
import { type Decision, refused } from '../decision.ts'
import type { AuthenticatedClient, PresentedClient } from './authenticate-client.ts'

/**
 * Unknown or malformed ID, wrong, malformed or ended secret: one answer, one row. The row is in the trail of the app
 * whose ID was claimed; one read finds it, whatever came, so that the time taken does not tell which IDs exist.
 */
export const refuseClient = async (
  q: Queries,
  stamp: AuditStamp,
  action: string,
  { clientId }: PresentedClient,
): Promise<Decision<never>> => {
  const claimed = await q.apps.byClient(environmentOfClientId(clientId) === null ? '' : clientId)
  await q.audit.insert(
    auditEvent(stamp, {
      actor: { kind: 'anonymous' },
      action,
      appId: claimed?.app.id ?? null,
      environment: claimed?.client.environment ?? null,
      target: claimed?.client.id ?? null,
      refusedWith: 'invalid_client',
    }),
  )
  return refused(refuse('invalid_client'))
}

/** The secret was right, but the app is suspended. */
export const refuseSuspended = async (
  q: Queries,
  stamp: AuditStamp,
  action: string,
  client: AuthenticatedClient,
): Promise<Decision<never>> => {
  await q.audit.insert(
    auditEvent(stamp, {
      actor: { kind: 'app', id: client.clientId },
      action,
      appId: client.appId,
      environment: client.environment,
      target: client.credentialId,
      refusedWith: 'app_inactive',
    }),
  )
  return refused(refuse('app_inactive'))
}
