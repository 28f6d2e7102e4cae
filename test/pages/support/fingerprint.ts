import { Database } from 'bun:sqlite'
import { askBeside } from '../../support/beside.ts'
import { onPostgres } from '../../support/postgres.ts'

/** Tables that may grow when a page is shown or refused, or while a server runs: its jobs count every hour, and number events. */
const lively = new Set([
  'audit_events',
  'audit_positions',
  'watermarks',
  'leases',
  'nodes',
  'hourly_counts',
  'daily_users',
])
const isQuiet = (table: string): boolean => !lively.has(table)

const tablesText = onPostgres
  ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
  : "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"

/** A hash of each table's content, to compare before and after. */
export const fingerprint = async (database: string): Promise<Readonly<Record<string, string>>> => {
  if (onPostgres) {
    const all = await askBeside<{ name: string }>(database, tablesText)
    return await hashedByPostgres(database, all.map(({ name }) => name).filter(isQuiet))
  }
  const connection = new Database(database, { readonly: true })
  try {
    const tables = connection.query<{ name: string }, []>(tablesText).all()
    const hashOf = (name: string): string => {
      const rows = connection.query(`SELECT * FROM "${name}" ORDER BY 1`).values()
      return `${rows.length} rows, ${Bun.hash(Bun.inspect(rows)).toString(16)}`
    }
    return Object.fromEntries(tables.filter(({ name }) => isQuiet(name)).map(({ name }) => [name, hashOf(name)]))
  } finally {
    connection.close()
  }
}

/** In one statement, because every question beside the server takes a connection. */
const hashedByPostgres = async (database: string, names: readonly string[]): Promise<Record<string, string>> => {
  const rows = "count(*) || ' rows, ' || md5(coalesce(string_agg(r::text, '|' ORDER BY r::text), ''))"
  const texts = names.map((name) => `SELECT '${name}' AS name, ${rows} AS hash FROM ${name} r`)
  const found = await askBeside<{ name: string; hash: string }>(database, texts.join(' UNION ALL '))
  return Object.fromEntries(found.map(({ name, hash }) => [name, hash]))
}

/** The requests whose refusal is in the audit log. */
export const refusedRequests = async (database: string): Promise<ReadonlySet<string | null>> => {
  const text = "SELECT request_id AS id FROM audit_events WHERE outcome = 'refused'"
  return new Set((await askBeside<{ id: string }>(database, text)).map(({ id }) => id))
}
