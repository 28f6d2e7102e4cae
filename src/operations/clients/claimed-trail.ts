import type { Queries } from '../../../db/database.ts'
import { environmentOfClientId, noAppId } from '../../domain/identifier.ts'

/**
 * Where the refusal of whoever claimed a client ID belongs: in the trail of its app, or in that of no app. The same read
 * and the same writes whatever came, so that the time taken does not tell which IDs exist.
 */
export const claimedTrail = async (q: Queries, clientId: string) => {
  const environment = environmentOfClientId(clientId)
  const appId = await q.apps.idOfClient(environment === null ? '' : clientId)
  const actor = { kind: 'anonymous' } as const
  return appId === null ? { actor, appId: noAppId } : { actor, appId, environment, target: clientId }
}
