import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { migrateFile } from '../../../db/migrate.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { decodeBase62 } from '../../../src/domain/base62.ts'
import { recordId, rowKey, rowKeyLength } from '../../../src/domain/identifier.ts'
import { hashSecret, parseToken, type TimeKeyedKind } from '../../../src/domain/secret.ts'
import { isTimeKey, type TimeKey, uuidHexOfTimeKey } from '../../../src/domain/time-key.ts'
import { secretUnder } from '../../support/forged.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Every step of the schema that the previous release knew. */
export const previousMigrations = migrations.slice(0, 1)
/** The migrations that this release adds. */
export const addedMigrations = migrations.slice(1)

/** The tables of a database and the columns of each. */
const columnsOf = (database: Database, schema: string): Readonly<Record<string, readonly string[]>> => {
  const tables = database
    .query<{ name: string }, []>(
      `SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations' ORDER BY name`,
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      database
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${name}', '${schema}') ORDER BY cid`)
        .all()
        .map((column) => column.name),
    ]),
  )
}

/** The tables whose keys were text before migration 7, with the columns that were keys of tokens or codes. */
const withTextKeys: Readonly<Record<string, readonly string[]>> = {
  app_tokens: ['key'],
  grants: ['current_key', 'retry_key'],
  authorization_codes: ['key'],
  token_pairs: ['key', 'previous_key'],
}

/** A UUID that begins with the bits of the key and continues at random. */
const uuidOf = (key: TimeKey): Uint8Array =>
  Uint8Array.fromHex(uuidHexOfTimeKey(key, new Bun.CryptoHasher('sha256').update(String(key)).digest()))

/** The text key that migration 7 converts into this one. */
const textKeyOf = (key: number): string => {
  if (!isTimeKey(key)) throw new TypeError('not a key')
  return rowKey(uuidOf(key))
}

const copyWithTextKeys = (database: Database, table: string, columns: readonly string[]): void => {
  const rows = database
    .query<Record<string, unknown>, []>(
      table === 'authorization_codes' || table === 'token_pairs'
        ? `SELECT t.*, g.id AS grant_id FROM today.${table} AS t JOIN today.grants AS g ON g.key = t.grant_key`
        : `SELECT * FROM today.${table}`,
    )
    .all()
  const insert = database.prepare(
    `INSERT INTO main.${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
  )
  const isGrantId = (column: string) => column === 'grant_id' || (table === 'grants' && column === 'id')
  for (const row of rows) {
    const values = columns.map((column) => {
      const value = row[column]
      if (value instanceof Uint8Array && isGrantId(column)) return recordId('grt_', value)
      return typeof value === 'number' && withTextKeys[table]?.includes(column) ? textKeyOf(value) : value
    })
    insert.run(
      ...values.map((value) => (value instanceof Uint8Array || typeof value === 'number' ? value : text(value))),
    )
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const hashColumns = {
  appToken: ['app_tokens', 'hash'],
  authorizationCode: ['authorization_codes', 'hash'],
  userAccessToken: ['token_pairs', 'access_hash'],
  refreshToken: ['token_pairs', 'refresh_hash'],
} as const satisfies Record<TimeKeyedKind, readonly [string, string]>

/** The secret that the previous release would have issued in the place of this one; its file holds it from now on. */
export const asIssuedBefore = (file: string, kind: TimeKeyedKind, secret: string): string => {
  const token = parseToken(kind, secret)
  if (token === null) throw new TypeError('not a secret of this kind')
  const key = textKeyOf(token.key)
  const before = secretUnder(kind, key)
  const [table, column] = hashColumns[kind]
  using database = new Database(file)
  const { changes } = database.run(`UPDATE ${table} SET ${column} = ? WHERE key = ?`, [hashSecret(before), key])
  if (changes !== 1) throw new Error('the previous release has no such row')
  return before
}

/**
 * Another app token, as if issued by two processes at once: its UUID begins as that of this one.
 */
export const addTwin = (file: string, appToken: string): string => {
  const key = appToken.slice('apat_'.length, 'apat_'.length + rowKeyLength)
  const uuid = decodeBase62(key, 16)
  if (uuid === null) throw new TypeError('not a secret of the previous release')
  const twin = Uint8Array.from(uuid, (byte, index) => (index === 15 ? byte ^ 1 : byte))
  const secret = secretUnder('appToken', rowKey(twin))
  using database = new Database(file)
  const columns = 'credential_id, scopes, created_at, expires_at, revoked_at, request_id, address'
  database.run(`INSERT INTO app_tokens (key, hash, ${columns}) SELECT ?, ?, ${columns} FROM app_tokens WHERE key = ?`, [
    rowKey(twin),
    hashSecret(secret),
    key,
  ])
  return secret
}

/**
 * A database as the previous release made it: its schema, by its own migrations, and in it every row of a database of
 * today, as far as that schema had a place for it. Gives the file.
 */
export const asPreviousRelease = async (today: string, steps = previousMigrations): Promise<string> => {
  const file = join(temporaryFolder(), 'app-platform.db')
  await migrateFile(file, steps)
  using database = new Database(file)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('ATTACH ? AS today', [today])
  const now = columnsOf(database, 'today')
  for (const [table, columns] of Object.entries(columnsOf(database, 'main'))) {
    const common = columns.filter((column) => now[table]?.includes(column)).join(', ')
    if (table in withTextKeys) copyWithTextKeys(database, table, columns)
    else database.run(`INSERT INTO main.${table} (${common}) SELECT ${common} FROM today.${table}`)
  }
  database.run('DETACH today')
  database.run('PRAGMA journal_mode = WAL')
  return file
}
