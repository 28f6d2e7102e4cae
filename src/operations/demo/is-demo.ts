import type { Queries } from '../../../db/database.ts'
import type { Platform } from '../platform.ts'

/**
 * Whether the database has a demo, and which: none, one whose making was interrupted, so that nobody has seen its passwords, or a
 * complete one. The mark is set before the first row of a demo, so other data is never taken for one.
 */
export const demoIn = async ({ watermarks }: Queries): Promise<'none' | 'begun' | 'complete'> => {
  const at = await watermarks.find('demo')
  if (at === null) return 'none'
  return at === begun ? 'begun' : 'complete'
}
/** The mark of a demo that is being made; after that it is the time. */
export const begun = 0

/** Whether the database is a demo, so that what it calls may be on this machine. */
export const isDemo = async ({ database }: Pick<Platform, 'database'>): Promise<boolean> =>
  (await demoIn(database.queries)) !== 'none'
