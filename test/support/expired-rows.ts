import { createRandom } from '../../src/runtime/random.ts'
import { askBeside } from './beside.ts'

const rowsAtOnce = 1_000

/** Fills the database with app tokens that were issued at that moment, faster than the platform would issue them. */
export const fillWithAppTokens = async (
  file: string,
  rows: { readonly count: number; readonly credentialId: string; readonly createdAt: number },
): Promise<void> => {
  // Its own, since a generator never goes back in time.
  const random = createRandom()
  const { createdAt, credentialId } = rows
  for (let left = rows.count; left > 0; left -= rowsAtOnce) {
    const part = Array.from({ length: Math.min(left, rowsAtOnce) })
    const row = "(?, ?, ?, 'site:read', ?, ?, 'req_00000000000000000000000000000000', '127.0.0.1')"
    await askBeside(
      file,
      `INSERT INTO app_tokens (key, hash, credential_id, scopes, created_at, expires_at, request_id, address)
       VALUES ${part.map(() => row).join()}`,
      ...part.flatMap(() => [
        random.timeKey(createdAt),
        random.bytes(32),
        credentialId,
        createdAt,
        createdAt + 3_600_000,
      ]),
    )
  }
}

/** Rows per table, read beside the platform. */
export const countRows = async (file: string, ...tables: readonly string[]): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const [row] = await askBeside<{ total: number }>(file, `SELECT count(*) AS total FROM ${table}`)
    counts[table] = row?.total ?? 0
  }
  return counts
}

export const countExpiredAppTokens = async (file: string, now: number): Promise<number> => {
  const text = 'SELECT count(*) AS total FROM app_tokens WHERE expires_at <= ?'
  return (await askBeside<{ total: number }>(file, text, now))[0]?.total ?? 0
}
