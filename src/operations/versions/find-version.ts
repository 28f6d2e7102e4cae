import type { App } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { type VersionRecord, versionRecord } from './version-record.ts'

/**
 * The version of this name, if it is this app's.
 * @throws version_not_found
 */
export const findVersion = async (
  platform: Platform,
  app: Pick<App, 'id' | 'developmentVersionId'>,
  version: string,
): Promise<VersionRecord> => {
  const row = await platform.database.queries.versions.byName(app.id, version)
  if (row === null) throw refuse('version_not_found')
  return versionRecord(row, app)
}
