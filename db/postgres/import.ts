import { createHash } from 'node:crypto'
import { DatabaseUnusable, type WriteEvent } from '../database.ts'
import type { MoveSource } from '../move.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { Link } from './link.ts'
import { changeAlone } from './recover.ts'

/** Every table, each after those that it refers to. `apps` and `versions` refer to each other. */
export const importedTables = [
  'users',
  'sessions',
  'devices',
  'server_keys',
  'server_settings',
  'form_tickets',
  'sign_in_requests',
  'identities',
  'totp_keys',
  'passkeys',
  'recovery_codes',
  'password_links',
  'mails',
  'muted_mails',
  'scopes',
  'apps',
  'app_members',
  'app_invitations',
  'clients',
  'credentials',
  'service_keys',
  'redirect_uris',
  'app_tokens',
  'grants',
  'authorization_codes',
  'token_pairs',
  'resources',
  'staged_resources',
  'installs',
  'install_session_codes',
  'embedded_sessions',
  'artifacts',
  'artifact_chunks',
  'versions',
  'review_messages',
  'rollbacks',
  'live_changes',
  'idempotency_keys',
  'audit_events',
  'audit_positions',
  'webhook_endpoints',
  'webhook_secrets',
  'webhook_events',
  'webhook_deliveries',
  'webhook_attempts',
  'carried_ends',
  'hourly_counts',
  'daily_users',
  'watermarks',
] as const

type Value = string | number | Uint8Array | null
type Column = { readonly name: string; readonly type: 'text' | 'bigint' | 'bytea' }
type Table = { readonly name: string; readonly columns: readonly Column[]; readonly key: readonly string[] }

/** Told how many rows were copied or read back since it was told last, of how many in all, and of which table. */
export type MoveProgress = (rows: number, total: number, table: string) => void

/** A piece of an artifact has 256 KiB. */
const rowsAtOnce = ({ name }: Table): number => (name === 'artifact_chunks' ? 16 : 2_000)

/**
 * Copies an SQLite database that moves into an empty PostgreSQL database, in one transaction, and reads everything back: the same
 * number of rows in each table, and the same bytes. Only then the source is marked as moved, and after that the transaction is committed. A
 * source that was marked before and has arrived here is left as it is.
 * @throws DatabaseUnusable if there is anything else in the database already, or what is read back differs
 */
export const importInto = async (
  link: Link,
  source: MoveSource,
  { now, event, progress }: { readonly now: number; readonly event: WriteEvent; readonly progress: MoveProgress },
) =>
  await changeAlone(link, async ({ queries }) => {
    const { connection, movedAt } = source
    if (source.isRepeated && (await hasArrived(link, connection))) return { movedAt }
    const tables = importedTables.map((name) => tableOf(connection, name))
    for (const { name } of tables) {
      const { rows } = await link.send(`SELECT 1 FROM ${name} LIMIT 1`, [])
      if (rows.length === 0) continue
      throw new DatabaseUnusable(
        'exists',
        `The PostgreSQL database has rows in ${name} already: move into an empty one.`,
      )
    }
    const total =
      2 * tables.reduce((sum, { name }) => sum + Number(connection.value(`SELECT count(*) FROM ${name}`)), 0)
    const advance = (rows: number, table: string) => progress(rows, total, table)
    const expected = new Map<string, string>()
    for (const table of tables) expected.set(table.name, await copy(link, connection, table, advance))
    await copyHeads(link, connection)
    await link.send(
      "SELECT setval('webhook_positions', coalesce((SELECT max(position) FROM webhook_events), 0) + 1, false)",
      [],
    )
    for (const table of tables) {
      if ((await readBack(link, table, advance)) === expected.get(table.name)) continue
      const sentence = `The rows of ${table.name} in PostgreSQL differ from those of the file: nothing was moved.`
      throw new DatabaseUnusable('damaged', sentence)
    }
    const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
    // The backups so far are copies of the file: here none was made yet.
    await link.send("DELETE FROM watermarks WHERE name IN ('moved', 'backed_up')", [])
    await queries.watermarks.set('clock', at)
    const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
    await queries.audit.insert(event(moment, { action: 'database.moved_here' }))
    await link.send('SELECT 1', []) // fails if anything before it has failed
    source.mark()
    return { movedAt: at }
  })

/** Whether the audit row of the move is there: it was committed together with all others. */
const hasArrived = async (link: Link, source: Connection): Promise<boolean> => {
  const [last] = source.rows<{ id: string }>("SELECT max(id) AS id FROM audit_events WHERE action = 'database.moved'")
  return (await link.send('SELECT 1 FROM audit_events WHERE id = $1', [last?.id ?? ''])).rows.length > 0
}

const types = { TEXT: 'text', INTEGER: 'bigint', BLOB: 'bytea' } as const

const tableOf = (source: Connection, name: string): Table => {
  const found = source.rows<{ name: string; type: keyof typeof types; pk: number }>(
    `SELECT name, upper(type) AS type, pk FROM pragma_table_info('${name}')`,
  )
  const key = found.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk)
  const columns = found.map((column) => ({ name: column.name, type: types[column.type] }))
  return { name, columns, key: key.map((column) => column.name) }
}

const namesOf = ({ columns }: Table): string => columns.map(({ name }) => name).join()

/** The rows of a table in the order of its key, which is the same on both engines. */
function* rowsIn(source: Connection, table: Table): Generator<Value[]> {
  const text = `SELECT ${namesOf(table)} FROM ${table.name} ORDER BY ${table.key.join()}`
  for (const row of source.prepare<Record<string, Value>, []>(text).iterate()) {
    yield table.columns.map(({ name }) => row[name] ?? null)
  }
}

type Advance = (rows: number, table: string) => void

/** Returns the digest of the rows. The next rows are read while PostgreSQL stores the ones before. */
const copy = async (link: Link, source: Connection, table: Table, advance: Advance): Promise<string> => {
  const { name, columns } = table
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`)
  const text = `INSERT INTO ${name} (${namesOf(table)}) SELECT * FROM unnest(${arrays.join()})`
  const head = columns.findIndex((column) => column.name === 'development_version_id')
  const read = digest()
  let batch: Value[][] = []
  let stored: Promise<unknown> = Promise.resolve()
  const flush = async () => {
    await stored
    advance(batch.length, name)
    const values = columns.map((_, index) => arrayOf(batch.map((row) => (index === head ? null : row[index]) ?? null)))
    if (batch.length > 0) stored = link.send(text, values)
    batch = []
  }
  for (const row of rowsIn(source, table)) {
    read.add(row)
    batch.push(row)
    if (batch.length === rowsAtOnce(table)) await flush()
  }
  await flush()
  await stored
  return read.result()
}

/** An array as PostgreSQL writes it. One value for each column takes a quarter of the time of one for each field. */
const arrayOf = (values: readonly Value[]): string => `{${values.map(elementOf).join()}}`

const elementOf = (value: Value): string => {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"\\\\x${value.toHex()}"`
}

/** Once the versions are there. */
const copyHeads = async (link: Link, source: Connection): Promise<void> => {
  const text = 'SELECT id, development_version_id AS head FROM apps WHERE development_version_id IS NOT NULL'
  for (const { id, head } of source.rows<{ id: string; head: string }>(text)) {
    await link.send('UPDATE apps SET development_version_id = $1 WHERE id = $2', [head, id])
  }
}

/** Returns the digest of what PostgreSQL has. It sends the next rows while the ones before are hashed. */
const readBack = async (link: Link, table: Table, advance: Advance): Promise<string> => {
  const found = digest()
  const text = `SELECT ${namesOf(table)} FROM ${table.name} ORDER BY ${table.key.join()}`
  await link.send(`DECLARE copied NO SCROLL CURSOR FOR ${text}`, [])
  const fetchNext = async () => await link.send(`FETCH ${rowsAtOnce(table)} FROM copied`, [])
  let next = fetchNext()
  for (;;) {
    const { rows } = await next
    if (rows.length === 0) break
    next = fetchNext()
    for (const row of rows) found.add(row)
    advance(rows.length, table.name)
  }
  await link.send('CLOSE copied', [])
  return found.result()
}

const digest = () => {
  const hash = createHash('sha256')
  let count = 0
  return {
    add: (row: readonly unknown[]) => {
      count += 1
      hash.update(JSON.stringify(row.map((value) => (value instanceof Uint8Array ? { bytes: value.toHex() } : value))))
    },
    result: () => `${count} ${hash.digest('hex')}`,
  }
}
