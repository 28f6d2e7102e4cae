import type { Database } from '../../db/database.ts'

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
