import type { App, Client, Queries } from '../../../db/database.ts'
import { badInput } from '../bad-input.ts'

/**
 * The client of an ID, with its app.
 * @throws invalid_request when there is none
 */
export const findClient = async (q: Queries, clientId: string): Promise<{ app: App; client: Client }> => {
  const found = await q.apps.byClient(clientId)
  if (found === null) throw badInput('clientId', 'There is no such client.')
  return found
}
