/**
 * Copies the rows of migration 7, which gives integer keys to app tokens, grants, authorization codes and token pairs.
 * Order is kept: what had the lower text key gets the lower integer. Released, so what it makes of a row never changes.
 */
import { decodeBase62 } from '../../src/domain/base62.ts'
import { type TimeKey, timeKeyAfter, timeKeyOfUuid } from '../../src/domain/time-key.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { MigrationProgress } from '../migrate.ts'

type Value = string | number | bigint | Uint8Array | null

/** How the rows of one table are copied: their keys are converted, all other columns stay as they are. */
type Copy = {
  readonly table: string
  /** Columns of the old table that are keys. The first one is its primary key. */
  readonly oldKeys: string
  /** Columns of the new table, in the order in which `convert` returns their values. */
  readonly newKeys: string
  convert(key: Value, second: Value, third: Value): readonly Value[]
  /** Columns of both tables. */
  readonly unchanged: string
}

const rowsAtOnce = 100
const rowsPerReport = 100_000

export const copyWithTimeKeys = (connection: Connection, progress: MigrationProgress): void => {
  const keys = readKeys(connection, everyTextKey, uuidOfTextKey)
  const grantKeys = readKeys(connection, 'SELECT id AS key FROM grants_before ORDER BY id', uuidOfGrantId)
  const insertMoved = connection.prepare('INSERT INTO moved_keys (uuid, key) VALUES (?, ?)')
  for (const [text, key] of keys.moved) insertMoved.run(uuidOfTextKey(text), key)

  const copies: readonly Copy[] = [
    {
      table: 'app_tokens',
      oldKeys: 'key',
      newKeys: 'key, uuid',
      convert: (key) => keys.withUuid(key),
      unchanged: 'hash, credential_id, scopes, created_at, expires_at, revoked_at, request_id, address',
    },
    {
      table: 'grants',
      oldKeys: 'id, current_key, retry_key',
      newKeys: 'key, id, current_key, retry_key',
      convert: (id, current, retry) => [
        ...grantKeys.withUuid(id),
        keys.of(current),
        retry === null ? null : keys.of(retry),
      ],
      unchanged: `user_id, app_id, client_id, scopes, created_at, expires_at, revoked_at, retry_salt,
        retry_fingerprint, retry_until`,
    },
    {
      table: 'authorization_codes',
      oldKeys: 'key, grant_id',
      newKeys: 'key, grant_key',
      convert: (key, grant) => [keys.of(key), grantKeys.of(grant)],
      unchanged: 'hash, redirect_uri, code_challenge, expires_at',
    },
    {
      table: 'token_pairs',
      oldKeys: 'key, grant_id, previous_key',
      newKeys: 'key, uuid, grant_key, previous_key',
      convert: (key, grant, previous) => [...keys.withUuid(key), grantKeys.of(grant), keys.of(previous)],
      unchanged: `access_hash, refresh_hash, scopes, created_at, access_expires_at, refresh_expires_at, request_id,
        address`,
    },
  ]
  for (const copy of copies) copyRows(connection, copy, progress)
}

/**
 * Copies the rows in the order of their keys. The columns that do not change stay inside SQLite, and many rows go in one
 * statement, which takes two thirds of the time. The old table is emptied at once, so that the next one reuses its pages.
 */
const copyRows = (
  connection: Connection,
  { table, oldKeys, newKeys, convert, unchanged }: Copy,
  progress: MigrationProgress,
): void => {
  const of = Number(connection.value(`SELECT count(*) FROM ${table}_before`))
  const [oldKey] = oldKeys.split(',')
  const select = connection.prepare<unknown, [string, number]>(
    `SELECT ${oldKeys} FROM ${table}_before WHERE ${oldKey} > ? ORDER BY ${oldKey} LIMIT ?`,
  )
  const columns = newKeys.split(',').map((_, index) => `column${index + 1}`)
  const row = `(?, ${columns.map(() => '?').join()})`
  const insertOf = (rows: number) =>
    connection.prepare<unknown, Value[]>(
      `INSERT INTO ${table} (${newKeys}, ${unchanged}) SELECT ${columns.join()}, ${unchanged}
        FROM (VALUES ${Array(rows).fill(row).join()}) CROSS JOIN ${table}_before ON ${oldKey} = column${columns.length + 1}`,
    )
  let last = ''
  for (let rows = 0; rows < of;) {
    const batch = select.values(last, rowsAtOnce)
    const values = batch.flatMap(([key = null, second = null, third = null]) => [...convert(key, second, third), key])
    insertOf(batch.length).run(...values)
    last = String(batch.at(-1)?.[0])
    rows += batch.length
    if (rows % rowsPerReport === 0) progress({ table, rows, of })
  }
  connection.run(`DELETE FROM ${table}_before`)
}

/** The code and the pairs of a grant name each other, and a grant names either: their keys are of one series. */
const everyTextKey = `SELECT key FROM app_tokens_before UNION ALL SELECT key FROM authorization_codes_before
  UNION ALL SELECT key FROM token_pairs_before ORDER BY key`

type Keys = {
  of(old: Value): TimeKey
  /** The new key, and the UUID that the old one stands for. */
  withUuid(old: Value): readonly [TimeKey, Uint8Array]
  /** The old keys whose new key is not the one that their UUID stands for, because another row has it. */
  readonly moved: ReadonlyMap<Value, TimeKey>
}

/** The new keys of all old keys that the query reads, in its order. Only the few that cannot be computed are kept. */
const readKeys = (connection: Connection, query: string, uuidOf: (old: Value) => Uint8Array): Keys => {
  const moved = new Map<Value, TimeKey>()
  const statement = connection.prepare<{ readonly key: string }, []>(query)
  let last: TimeKey | null = null
  let lastOld = ''
  for (const { key: old } of statement.iterate()) {
    if (old === lastOld) continue
    const computed = timeKeyOfUuid(uuidOf(old))
    const key: TimeKey = last === null || computed > last ? computed : timeKeyAfter(last)
    if (key !== computed) moved.set(old, key)
    last = key
    lastOld = old
  }
  const withUuid = (old: Value) => {
    const uuid = uuidOf(old)
    return [moved.get(old) ?? timeKeyOfUuid(uuid), uuid] as const
  }
  return { moved, withUuid, of: (old) => withUuid(old)[0] }
}

const uuidBytes = 16

const uuidOfTextKey = (key: Value): Uint8Array => {
  const uuid = typeof key === 'string' ? decodeBase62(key, uuidBytes) : null
  if (uuid === null) throw new Error('A key of a token is damaged: restore a backup.')
  return uuid
}

const uuidOfGrantId = (id: Value): Uint8Array => {
  if (typeof id !== 'string' || !/^grt_[0-9a-f]{32}$/.test(id)) {
    throw new Error('An ID of a grant is damaged: restore a backup.')
  }
  return Uint8Array.fromHex(id.slice('grt_'.length))
}
