import { askBeside } from './beside.ts'

/** The key with which the server of this database signs what browsers send back, for tests that sign as the server does. */
export const serverKeyIn = async (database: string): Promise<Uint8Array> => {
  const [row] = await askBeside<{ key: Uint8Array }>(database, 'SELECT key FROM server_keys')
  if (row === undefined) throw new Error('the server has no key yet')
  return row.key
}
