import { PlatformError } from '../domain/errors.ts'
import type { Platform } from './platform.ts'

/** The key that signs form tickets and the cookies of known browsers. Each signed text begins with its own word. */
const name = 'browsers'

/**
 * The key of this server, 32 random bytes. It is created if there is none, as after a restore. While the store takes no
 * writes, a key is used that is not stored: what it signs is refused after the next start. A server that shares a database does
 * not start then, because the others would refuse what it signs.
 * @throws DatabaseUnusable
 */
export const openServerKey = async ({
  database,
  clock,
  random,
}: Pick<Platform, 'database' | 'clock' | 'random'>): Promise<Uint8Array> => {
  const kept = await database.queries.serverKeys.find(name)
  if (kept !== null) return kept.key
  const fresh = { name, key: random.bytes(32), createdAt: clock.now() }
  try {
    return await database.transaction(async (q) => {
      await q.serverKeys.insertFirst(fresh)
      return (await q.serverKeys.find(name))?.key ?? fresh.key
    })
  } catch (error) {
    if (!(error instanceof PlatformError && error.code === 'unavailable')) throw error
    if (database.cluster === null) return fresh.key
    throw database.explain(error)
  }
}
