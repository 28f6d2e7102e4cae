import type { Queries } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { auditEvent, type AuditStamp } from '../audit/event.ts'
import { type RefusalLog, tellRefusal } from '../audit/refusal-log.ts'
import { type Decision, refused } from '../decision.ts'
import type { AuthenticatedClient, PresentedClient } from './authenticate-client.ts'
import { claimedTrail } from './claimed-trail.ts'

/** Unknown or malformed ID, wrong, malformed or ended secret: one answer, one row. */
export const refuseClient = async (
  q: Queries,
  refusals: RefusalLog,
  stamp: AuditStamp,
  action: string,
  { clientId }: PresentedClient,
): Promise<Decision<never>> => {
  const trail = await claimedTrail(q, clientId)
  await tellRefusal(q, refusals, auditEvent(stamp, { ...trail, action, refusedWith: 'invalid_client' }))
  return refused(refuse('invalid_client'))
}

/** The secret was right, but what was asked for is refused. */
export const refuseKnownClient = async (
  q: Queries,
  refusals: RefusalLog,
  stamp: AuditStamp,
  action: string,
  client: AuthenticatedClient,
  fault: PlatformError,
): Promise<Decision<never>> => {
  await tellRefusal(
    q,
    refusals,
    auditEvent(stamp, {
      actor: { kind: 'app', id: client.clientId },
      action,
      appId: client.appId,
      environment: client.environment,
      target: client.credentialId,
      refusedWith: fault.code,
    }),
  )
  return refused(fault)
}
