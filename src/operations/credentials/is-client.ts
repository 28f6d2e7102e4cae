import { environmentOfClientId } from '../../domain/identifier.ts'
import type { Platform } from '../platform.ts'

/** Whether any app, active or not, has this client ID; as quickly told when none has. */
export const isClient = async (platform: Platform, clientId: string): Promise<boolean> =>
  environmentOfClientId(clientId) !== null && (await platform.database.queries.apps.idOfClient(clientId)) !== null
