import type { App, Queries, Version } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'

/** What users get of an app, or in development its head, which is also what an install opens; null when there is none. */
export const currentVersion = async (
  q: Queries,
  app: Pick<App, 'id' | 'developmentVersionId'>,
  environment: Environment,
): Promise<Version | null> => {
  if (environment === 'production') return await q.versions.active(app.id)
  return app.developmentVersionId === null ? null : await q.versions.byId(app.id, app.developmentVersionId)
}
