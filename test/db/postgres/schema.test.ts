import { expect } from 'bun:test'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { checkPostgres } from '../../../db/postgres/commands.ts'
import { postgresMigrations } from '../../../db/migrations/index.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { emptyDatabase } from '../../support/operator.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { openStore } from './support.ts'

const { test } = needs('postgres')

/** Tables that only several servers need. */
const ofServers = new Set(['locks', 'nodes', 'leases', 'timelines', 'origin', 'shared_limits'])
const types: Readonly<Record<string, string>> = { TEXT: 'text C', INTEGER: 'bigint', BLOB: 'bytea' }

const names = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name).toSorted()

test('both engines have the same tables and columns, and every text is ordered by its bytes', async () => {
  const file = join(temporaryFolder(), 'sqlite.db')
  await emptyDatabase(file)
  using sqlite = new Database(file, { readonly: true })
  const columns = sqlite
    .query<{ line: string; type: string }, []>(
      `SELECT t.name || '.' || c.name || ' ' || c."notnull" AS line, c.type AS type
       FROM pragma_table_list t JOIN pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite%'`,
    )
    .all()
    .map(({ line, type }) => `${line} ${types[type]}`)
  const rows = await askPostgres<{ line: string; name: string }>(
    await postgresDatabase('schema'),
    `SELECT table_name AS name, table_name || '.' || column_name || ' ' || (is_nullable = 'NO')::int || ' ' || data_type ||
       coalesce(' ' || collation_name, '') AS line FROM information_schema.columns WHERE table_schema = 'public'`,
    [],
  )
  const found = rows.filter(({ name }) => !ofServers.has(name)).map(({ line }) => line)
  expect(found.toSorted()).toEqual(columns.toSorted())
})

test('both engines have the same indexes, but for one with long texts, and the same constraints', async () => {
  const file = join(temporaryFolder(), 'sqlite.db')
  await emptyDatabase(file)
  using sqlite = new Database(file, { readonly: true })
  const ofSqlite = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND name <> 'apps_in_directory'",
    )
    .all()
  const url = await postgresDatabase('schema')
  const ofPostgres = await askPostgres<{ name: string }>(
    url,
    `SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public'
     AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
    [],
  )
  expect(names(ofPostgres)).toEqual(names(ofSqlite))
  const [sql = ''] = [
    sqlite.query<{ sql: string }, []>("SELECT group_concat(sql) AS sql FROM sqlite_schema WHERE type = 'table'").get()
      ?.sql,
  ]
  const kinds = await askPostgres<{ kind: string; count: number }>(
    url,
    `SELECT contype AS kind, count(*) AS count FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT IN ('locks', 'nodes', 'leases', 'timelines', 'origin', 'shared_limits') GROUP BY 1`,
    [],
  )
  const count = (kind: string) => kinds.find((row) => row.kind === kind)?.count
  expect(count('f')).toBe([...sql.matchAll(/ REFERENCES /g)].length)
  expect(count('c')).toBe([...sql.matchAll(/\bCHECK \(/g)].length)
})

test('check finds what others have changed, a malformed key, and nothing else', async () => {
  const url = await postgresDatabase('checked')
  expect(await checkPostgres(url, postgresMigrations)).toEqual([])
  await askPostgres(url, "INSERT INTO form_tickets (key, spent_at) VALUES ('short', 1)", [])
  expect(await checkPostgres(url, postgresMigrations)).toEqual(['A key in form_tickets is damaged: restore a backup.'])
  await askPostgres(url, 'DROP INDEX grants_by_user', [])
  await askPostgres(url, 'ALTER TABLE users ADD COLUMN nickname text', [])
  expect(await checkPostgres(url, postgresMigrations)).toEqual([
    'grants_by_user in the PostgreSQL database is not as this program made it.',
    'users.nickname in the PostgreSQL database is not as this program made it.',
  ])
})

test('without the row that serial transactions lock, check names it, nothing starts, and no such transaction commits', async () => {
  const url = await postgresDatabase('unlockable')
  const store = await openStore(url)
  const spend = async () => await store.transaction(async (q) => await q.formTickets.spend('0'.repeat(22), 1))
  await askPostgres(url, 'DELETE FROM locks', [])
  const sentence = expect.stringMatching(
    / locks [^\n]* is gone[^\n]* INSERT INTO locks \(name\) VALUES \('serial'\)\.$/,
  )
  expect(await checkPostgres(url, postgresMigrations)).toEqual([sentence])
  await expect(openStore(url)).rejects.toMatchObject({ message: sentence })
  await expect(spend()).rejects.toMatchObject({ message: sentence })
  expect(await askPostgres(url, 'SELECT 1 FROM form_tickets', [])).toEqual([])
  await askPostgres(url, "INSERT INTO locks (name) VALUES ('serial')", [])
  expect(await checkPostgres(url, postgresMigrations)).toEqual([])
  expect(await spend()).toBe(true)
  await store.close()
})
