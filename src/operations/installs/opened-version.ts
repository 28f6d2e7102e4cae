import type { App, Queries, Version } from '../../../db/database.ts'
import type { Environment } from '../../domain/environment.ts'

/** The version that an install opens: what users get, or in development the head; null when there is none. */
export const openedVersion = async (
  q: Queries,
  app: Pick<App, 'id' | 'developmentVersionId'>,
  environment: Environment,
): Promise<Version | null> => {
  if (environment === 'production') return await q.versions.active(app.id)
  return app.developmentVersionId === null ? null : await q.versions.byId(app.id, app.developmentVersionId)
}
