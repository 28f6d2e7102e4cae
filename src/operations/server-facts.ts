// What the database keeps of the servers: their key, the settings of the last one, and whether it is a demo.

import type { Database, Queries } from '../../db/database.ts'
import { PlatformError } from '../domain/errors.ts'
import { isLoopbackHost } from '../domain/ip-address.ts'
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

/**
 * Keeps what this server was started with, without secrets. A command often runs in a shell that has none of the settings: with the
 * defaults it would print links to another host, write no mails, or remove events that the server keeps longer. Whatever keeps this from
 * being written, such as a full disk, keeps nothing else.
 */
export const keepSettings = async (
  database: Database,
  given: readonly { readonly name: string; readonly value: string }[],
): Promise<void> => {
  if (Bun.deepEquals(await database.queries.serverSettings.all(), given)) return
  await database.transaction(async (q) => await q.serverSettings.replace(given)).catch(() => undefined)
}

/** What the last server was started with: names and values as in its environment. Empty if none has started yet. */
export const keptSettings = async (database: Database): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await database.queries.serverSettings.all()).map(({ name, value }) => [name, value]))

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

/** Whether this is a demo for people at this machine, so that what it calls may be on it. A demo for others would show them what is. */
export const isLocalDemo = async ({
  database,
  publicUrl,
}: Pick<Platform, 'database' | 'publicUrl'>): Promise<boolean> =>
  isLoopbackHost(new URL(publicUrl).hostname) && (await demoIn(database.queries)) !== 'none'
