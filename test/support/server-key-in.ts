import { Database } from 'bun:sqlite'

/** The key with which the server of this file signs what browsers send back, for tests that sign as the server does. */
export const serverKeyIn = (file: string): Uint8Array => {
  const database = new Database(file, { readonly: true })
  try {
    const row = database.query<{ key: Uint8Array }, []>('SELECT key FROM server_keys').get()
    if (row === null) throw new Error('the server has no key yet')
    return row.key
  } finally {
    database.close()
  }
}
