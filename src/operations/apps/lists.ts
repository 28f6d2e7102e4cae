import { type PageRequest, searchPage } from '../page.ts'
import type { Platform } from '../platform.ts'
import { type AppRecord, appRecord } from './app-record.ts'

/** Every app, by slug. */
export const listApps = async (platform: Platform): Promise<AppRecord[]> => {
  const q = platform.database.queries
  const records: AppRecord[] = []
  for (const app of await q.apps.list()) records.push(await appRecord(q, app))
  return records
}

/** The apps of a user, by slug. `live` and `developmentHead` are version names, null when there is none. */
export const listOwnApps = async (platform: Platform, userId: string) =>
  (await platform.database.queries.apps.ownedBy(userId)).map(
    ({ app: { slug, name, status, createdAt }, live, developmentHead }) => ({
      slug,
      name,
      status,
      createdAt,
      live,
      developmentHead,
    }),
  )

/** An app in the list of its owner. */
export type OwnAppSummary = Awaited<ReturnType<typeof listOwnApps>>[number]

/** Apps whose name or slug contains `part`, by slug. An empty part finds all apps. */
export const searchApps = async (platform: Platform, part: string, page: PageRequest) =>
  await searchPage(platform.database.queries.apps.search, part, page, ({ slug }) => slug)
