import type { Environment } from '../../domain/app.ts'
import type { Platform } from '../platform.ts'
import { type CredentialRecord, credentialRecord } from './credential-record.ts'

/** The secrets of each environment's client that have not ended, oldest first; never more than two. */
export const listLiveCredentials = async (
  platform: Platform,
  clientIds: Readonly<Record<Environment, string>>,
): Promise<Record<Environment, CredentialRecord[]>> => {
  const now = platform.clock.now()
  const of = async (environment: Environment) =>
    (await platform.database.queries.credentials.liveOfClient(clientIds[environment], now)).map((row) =>
      credentialRecord(row, environment, now),
    )
  return { development: await of('development'), production: await of('production') }
}
