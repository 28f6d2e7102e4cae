import type { Observed } from '../platform.ts'

/** How long ago the last backup was made, in whole seconds; null when none was. One read by key. */
export const backupAgeSeconds = async ({ database, clock }: Observed): Promise<number | null> => {
  const at = await database.queries.watermarks.find('backed_up')
  return at === null ? null : Math.max(0, Math.floor((clock.now() - at) / 1000))
}
