import type { App, Queries } from '../../../db/database.ts'
import { badInput } from '../bad-input.ts'

/**
 * The app of a slug.
 * @throws invalid_request when there is none
 */
export const findApp = async (q: Queries, slug: string): Promise<App> => {
  const app = await q.apps.bySlug(slug)
  if (app === null) throw badInput('app', 'There is no app with this slug.')
  return app
}
