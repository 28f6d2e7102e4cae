import { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { readFileSync, rmSync } from 'node:fs'
import { isPostgresUrl } from '../../db/postgres/address.ts'
import { databaseOf, onPostgres } from './postgres.ts'

type Value = string | number | Uint8Array | null

/** Runs a statement beside the platform, on the engine of these tests, and gives its rows. `?` stands for a value. */
export const askBeside = async <Row = Record<string, unknown>>(
  file: string,
  text: string,
  ...values: readonly Value[]
): Promise<Row[]> => {
  const database = await databaseOf(file)
  if (isPostgresUrl(database)) return await askPostgres<Row>(database, text, values)
  using connection = new Database(database, { readwrite: true, create: false })
  connection.run('PRAGMA busy_timeout = 5000') // beside whoever writes
  using statement = connection.prepare<Row, Value[]>(text)
  return statement.all(...values)
}

/** One connection of the test itself, which it must close. */
export const connectTo = (url: string): SQL => {
  const { host, username, pathname, searchParams } = new URL(url)
  const path = searchParams.get('host')
  return new SQL({
    url: `postgres://${host}`,
    username,
    database: pathname.slice(1),
    ...(path !== null && { path }),
    max: 1,
    bigint: true,
  })
}

export const askPostgres = async <Row>(url: string, text: string, values: readonly Value[]): Promise<Row[]> => {
  const sql = connectTo(url)
  try {
    let count = 0
    const rows: object[] = await sql.unsafe(
      text.replaceAll('?', () => `$${(count += 1)}`),
      [...values],
    )
    return rows.map((row) => plainRow<Row>(row))
  } finally {
    await sql.close()
  }
}

const plain = (value: unknown) =>
  typeof value === 'bigint' ? Number(value) : value instanceof Uint8Array ? new Uint8Array(value) : value

/** As bun:sqlite gives it. */
const plainRow = <Row>(row: object): Row => {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])) as Row // by the caller's word
}

/** What the database keeps, where a secret could be found: the file and its WAL, or every row as text. */
export const contentsOf = async (
  file: string,
): Promise<readonly { readonly name: string; readonly content: Buffer }[]> => {
  if (!onPostgres) return ['', '-wal'].map((suffix) => ({ name: file + suffix, content: readFileSync(file + suffix) }))
  const tables = await askBeside<{ name: string }>(
    file,
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  return await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await askBeside<{ text: string }>(file, `SELECT r::text AS text FROM ${name} r`)
      return { name, content: Buffer.from(rows.map(({ text }) => text).join('\n')) }
    }),
  )
}

/** Takes the database away from a running server. */
export const takeAway = async (file: string): Promise<void> => {
  const database = await databaseOf(file)
  if (!isPostgresUrl(database)) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true })
    return
  }
  const name = new URL(database).pathname.slice(1)
  const beside = database.replace(`/${name}?`, '/postgres?')
  await askPostgres(beside, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`, [])
  await askPostgres(beside, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ?', [name])
}
