import type { App } from '../../../db/database.ts'
import { type Page, type PageRequest, searchPage } from '../page.ts'
import type { Platform } from '../platform.ts'

/** An app as a list has it. */
export type AppSummary = Pick<App, 'slug' | 'name' | 'status' | 'deletedAt'> & { readonly ownerEmail: string }

/** Apps whose name or slug has this part, by slug; all of them for an empty one. */
export const searchApps = async (platform: Platform, part: string, page: PageRequest): Promise<Page<AppSummary>> =>
  await searchPage(platform.database.queries.apps.search, part, page, ({ slug }) => slug)
