import type { Platform } from '../platform.ts'

/** Whether the builder has lately opened a page of this origin in a frame, for anybody. */
export const isKnownOrigin = async (platform: Platform, origin: string): Promise<boolean> =>
  await platform.database.queries.embedding.isKnownOrigin(origin)
