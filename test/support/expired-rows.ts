import { Database } from 'bun:sqlite'
import { createRandom } from '../../src/runtime/random.ts'

/** Inserts app tokens that were issued at that time, faster than the platform could. */
export const fillWithAppTokens = (
  file: string,
  rows: { readonly count: number; readonly credentialId: string; readonly createdAt: number },
): void => {
  const database = new Database(file, { readwrite: true, create: false })
  database.run('PRAGMA busy_timeout = 5000') // other processes may write
  // A new generator, because one never goes back in time.
  const random = createRandom()
  try {
    const insert = database.prepare(
      `INSERT INTO app_tokens (key, hash, credential_id, scopes, created_at, expires_at, request_id, address)
       VALUES (?, ?, ?, 'site:read', ?, ?, 'req_00000000000000000000000000000000', '127.0.0.1')`,
    )
    const { createdAt, credentialId } = rows
    database.transaction(() => {
      for (let index = 0; index < rows.count; index += 1) {
        insert.run(random.timeKey(createdAt), random.bytes(32), credentialId, createdAt, createdAt + 3_600_000)
      }
    })()
    insert.finalize()
  } finally {
    database.close()
  }
}

/** Rows per table, read directly from the file. */
export const countRows = (file: string, ...tables: readonly string[]): Record<string, number> => {
  const database = new Database(file, { readonly: true })
  try {
    const counts: Record<string, number> = {}
    for (const table of tables) {
      const row = database.query<{ total: number }, []>(`SELECT count(*) AS total FROM ${table}`).get()
      counts[table] = row?.total ?? 0
    }
    return counts
  } finally {
    database.close()
  }
}

export const countExpiredAppTokens = (file: string, now: number): number => {
  const database = new Database(file, { readonly: true })
  try {
    const count = database.query<{ total: number }, [number]>(
      'SELECT count(*) AS total FROM app_tokens WHERE expires_at <= ?',
    )
    return count.get(now)?.total ?? 0
  } finally {
    database.close()
  }
}
