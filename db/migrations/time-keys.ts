/**
 * Copies the rows of migration 7, which gives integer keys to app tokens, grants, authorization codes and token pairs.
 * Order is kept: what had the lower text key gets the lower integer. Released, so what it makes of a row never changes.
 */
import { decodeBase62 } from '../../src/domain/base62.ts'
import { type TimeKey, timeKeyAfter, timeKeyAt, timeKeyOfUuid } from '../../src/domain/time-key.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { MigrationProgress } from '../migrate.ts'

type Value = string | number | bigint | Uint8Array | null
type Row = readonly Value[]

/** How the rows of one table are copied. `columns` are read in this order; the first one is the key. */
type Copy = {
  readonly table: string
  readonly columns: string
  readonly into: string
  convert(row: Row): Row
}

const rowsAtOnce = 10_000
const rowsPerReport = 100_000

export const copyWithTimeKeys = (connection: Connection, progress: MigrationProgress): void => {
  const keys = keysOf(connection, everyTextKey, uuidOfTextKey)
  const grantKeys = keysOf(connection, 'SELECT id FROM grants_before ORDER BY id', uuidOfGrantId)
  const insertMoved = connection.prepare('INSERT INTO moved_keys (uuid, key) VALUES (?, ?)')
  for (const [text, key] of keys.moved) insertMoved.run(uuidOfTextKey(text), key)

  const copies: readonly Copy[] = [
    {
      table: 'app_tokens',
      columns: 'key, hash, credential_id, scopes, created_at, expires_at, revoked_at, request_id, address',
      into: 'key, hash, credential_id, scopes, created_at, expires_at, revoked_at, request_id, address, uuid',
      convert: ([key = null, ...rest]) => [keys.of(key), ...rest, uuidOfTextKey(key)],
    },
    {
      table: 'grants',
      columns: `id, current_key, retry_key, user_id, app_id, client_id, scopes, created_at, expires_at, revoked_at,
        retry_salt, retry_fingerprint, retry_until`,
      into: `key, id, current_key, retry_key, user_id, app_id, client_id, scopes, created_at, expires_at, revoked_at,
        retry_salt, retry_fingerprint, retry_until`,
      convert: ([id = null, current = null, retry = null, ...rest]) => [
        grantKeys.of(id),
        uuidOfGrantId(id),
        keys.of(current),
        retry === null ? null : keys.of(retry),
        ...rest,
      ],
    },
    {
      table: 'authorization_codes',
      columns: 'key, grant_id, hash, redirect_uri, code_challenge, expires_at',
      into: 'key, grant_key, hash, redirect_uri, code_challenge, expires_at',
      convert: ([key = null, grant = null, ...rest]) => [keys.of(key), grantKeys.of(grant), ...rest],
    },
    {
      table: 'token_pairs',
      columns: `key, grant_id, previous_key, access_hash, refresh_hash, scopes, created_at, access_expires_at,
        refresh_expires_at, request_id, address`,
      into: `key, grant_key, previous_key, access_hash, refresh_hash, scopes, created_at, access_expires_at,
        refresh_expires_at, request_id, address, uuid`,
      convert: ([key = null, grant = null, previous = null, ...rest]) => [
        keys.of(key),
        grantKeys.of(grant),
        keys.of(previous),
        ...rest,
        uuidOfTextKey(key),
      ],
    },
  ]
  for (const copy of copies) copyRows(connection, copy, progress)
}

const copyRows = (connection: Connection, { table, columns, into, convert }: Copy, progress: MigrationProgress) => {
  const of = Number(connection.value(`SELECT count(*) FROM ${table}_before`))
  const [key] = columns.split(',')
  const select = connection.prepare<unknown, [string, number]>(
    `SELECT ${columns} FROM ${table}_before WHERE ${key} > ? ORDER BY ${key} LIMIT ?`,
  )
  const places = into.split(',').map(() => '?')
  const insert = connection.prepare<unknown, Value[]>(`INSERT INTO ${table} (${into}) VALUES (${places.join()})`)
  let last = ''
  for (let rows = 0; rows < of;) {
    const batch: readonly Row[] = select.values(last, rowsAtOnce)
    for (const row of batch) insert.run(...convert(row))
    last = String(batch.at(-1)?.[0])
    rows += batch.length
    if (rows % rowsPerReport === 0) progress({ table, rows, of })
  }
}

/** The code and the pairs of a grant name each other, and a grant names either: their keys are of one series. */
const everyTextKey = `SELECT key FROM app_tokens_before UNION ALL SELECT key FROM authorization_codes_before
  UNION ALL SELECT key FROM token_pairs_before ORDER BY key`

type Keys = {
  of(old: Value): TimeKey
  /** Those whose key is not the one that their UUID stands for, since another row has it. */
  readonly moved: ReadonlyMap<string, TimeKey>
}

/** The integer key of each old key that the query gives, in its order. Only the few are kept that cannot be computed. */
const keysOf = (connection: Connection, query: string, uuidOf: (old: Value) => Uint8Array): Keys => {
  const moved = new Map<string, TimeKey>()
  const statement = connection.prepare<unknown, []>(query)
  let last: { readonly old: string; readonly key: TimeKey } = { old: '', key: timeKeyAt(0) }
  for (const row of statement.iterate()) {
    const old = String(Object.values(Object(row))[0])
    if (old === last.old) continue
    const computed = timeKeyOfUuid(uuidOf(old))
    const key = last.old === '' || computed > last.key ? computed : timeKeyAfter(last.key)
    if (key !== computed) moved.set(old, key)
    last = { old, key }
  }
  return { moved, of: (old) => moved.get(String(old)) ?? timeKeyOfUuid(uuidOf(old)) }
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
