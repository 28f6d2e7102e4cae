import { createHash } from 'node:crypto'
import { DatabaseUnusable, type WriteEvent } from '../database.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { Link } from './link.ts'
import { changeAlone } from './recover.ts'

/** Every table, each after those that it refers to. `apps` and `versions` refer to each other. */
export const importedTables = [
  'users',
  'sessions',
  'devices',
  'server_keys',
  'form_tickets',
  'apps',
  'clients',
  'credentials',
  'redirect_uris',
  'app_tokens',
  'moved_keys',
  'grants',
  'authorization_codes',
  'token_pairs',
  'resources',
  'installs',
  'install_session_codes',
  'embedded_sessions',
  'artifacts',
  'artifact_chunks',
  'versions',
  'rollbacks',
  'idempotency_keys',
  'audit_events',
  'webhook_endpoints',
  'webhook_secrets',
  'webhook_events',
  'webhook_deliveries',
  'webhook_attempts',
  'carried_ends',
  'watermarks',
] as const

type Value = string | number | Uint8Array | null
type Table = { readonly name: string; readonly columns: readonly string[]; readonly key: readonly string[] }

/** PostgreSQL takes 65,535 values in one statement. A piece of an artifact has 256 KiB. */
const rowsAtOnce = ({ name, columns }: Table): number =>
  name === 'artifact_chunks' ? 16 : Math.floor(20_000 / columns.length)

/**
 * Copies the sealed copy of a moved SQLite database into an empty PostgreSQL database, in one transaction, and reads everything
 * back: the same number of rows in each table, and the same bytes.
 * @throws DatabaseUnusable if there is anything in the database already, or what is read back differs
 */
export const importInto = async (
  link: Link,
  sealed: Connection,
  { now, event }: { readonly now: number; readonly event: WriteEvent },
) =>
  await changeAlone(link, async (queries) => {
    const tables = importedTables.map((name) => tableOf(sealed, name))
    for (const { name } of tables) {
      const { rows } = await link.send(`SELECT 1 FROM ${name} LIMIT 1`, [])
      if (rows.length === 0) continue
      throw new DatabaseUnusable(
        'exists',
        `The PostgreSQL database has rows in ${name} already: move into an empty one.`,
      )
    }
    for (const table of tables) await copy(link, sealed, table)
    await copyHeads(link, sealed)
    for (const table of tables) await assertSame(link, sealed, table)
    const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
    await link.send("DELETE FROM watermarks WHERE name = 'sealed'", [])
    await queries.watermarks.set('clock', at)
    const moment = { at, idAt: at + (await queries.audit.aheadMs()) }
    await queries.audit.insert(event(moment, { action: 'database.moved_here' }))
    return { movedAt: at }
  })

const tableOf = (sealed: Connection, name: string): Table => {
  const found = sealed.rows<{ name: string; pk: number }>(`SELECT name, pk FROM pragma_table_info('${name}')`)
  const key = found.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk)
  return { name, columns: found.map((column) => column.name), key: key.map((column) => column.name) }
}

/** The rows of a table in the order of its key, which is the same on both engines. */
function* rowsIn(sealed: Connection, { name, columns, key }: Table): Generator<Value[]> {
  const text = `SELECT ${columns.join()} FROM ${name} ORDER BY ${key.join()}`
  for (const row of sealed.prepare<Record<string, Value>, []>(text).iterate()) {
    yield columns.map((column) => row[column] ?? null)
  }
}

const copy = async (link: Link, sealed: Connection, table: Table): Promise<void> => {
  const { name, columns } = table
  const head = columns.indexOf('development_version_id')
  let batch: Value[][] = []
  const flush = async () => {
    const row = (index: number) => `(${columns.map((_, at) => `$${index * columns.length + at + 1}`).join()})`
    const text = `INSERT INTO ${name} (${columns.join()}) VALUES ${batch.map((_, index) => row(index)).join()}`
    if (batch.length > 0) await link.send(text, batch.flat())
    batch = []
  }
  for (const row of rowsIn(sealed, table)) {
    if (head !== -1) row[head] = null
    batch.push(row)
    if (batch.length === rowsAtOnce(table)) await flush()
  }
  await flush()
}

/** Once the versions are there. */
const copyHeads = async (link: Link, sealed: Connection): Promise<void> => {
  const text = 'SELECT id, development_version_id AS head FROM apps WHERE development_version_id IS NOT NULL'
  for (const { id, head } of sealed.rows<{ id: string; head: string }>(text)) {
    await link.send('UPDATE apps SET development_version_id = $1 WHERE id = $2', [head, id])
  }
}

const assertSame = async (link: Link, sealed: Connection, table: Table): Promise<void> => {
  const { name, columns, key } = table
  const expected = digest()
  for (const row of rowsIn(sealed, table)) expected.add(row)
  const found = digest()
  await link.send(`DECLARE copied CURSOR FOR SELECT ${columns.join()} FROM ${name} ORDER BY ${key.join()}`, [])
  for (;;) {
    const { rows } = await link.send(`FETCH ${rowsAtOnce(table)} FROM copied`, [])
    if (rows.length === 0) break
    for (const row of rows) found.add(row)
  }
  await link.send('CLOSE copied', [])
  if (expected.result() === found.result()) return
  throw new DatabaseUnusable(
    'damaged',
    `The rows of ${name} in PostgreSQL differ from those of the file: nothing was kept.`,
  )
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
