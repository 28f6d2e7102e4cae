import type { App, Queries } from '../../../db/database.ts'
import { badInput } from '../decision.ts'

/**
 * The app of a slug. One that is deleted is left as it is: nothing can be done with it but to bring it back.
 * @throws invalid_request when there is none, or it is deleted
 */
export const findApp = async (q: Queries, slug: string): Promise<App> => {
  const app = await findAnyApp(q, slug)
  if (app.deletedAt !== null) throw badInput('app', isDeleted)
  return app
}

/** The app of a slug, deleted or not. @throws invalid_request when there is none */
export const findAnyApp = async (q: Queries, slug: string): Promise<App> => {
  const app = await q.apps.bySlug(slug)
  if (app === null) throw badInput('app', 'There is no app with this slug.')
  return app
}

const isDeleted = 'This app is deleted. To bring it back, run: app-platform app undelete <slug>.'
