import { expect, test } from 'bun:test'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { migrateFile } from '../../../db/migrate.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { expiring, personalRows } from '../../../db/queries/lists.ts'
import * as tables from '../../../db/tables/sqlite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const everyTable = Object.values<SQLiteTable>(tables)
const placesOf = (isMeant: (column: string) => boolean) =>
  everyTable.flatMap((table) =>
    Object.values(getTableColumns(table)).flatMap(({ name }) =>
      isMeant(name) ? [`${getTableName(table)}.${name}`] : [],
    ),
  )

/** Columns that refer to the table of users, as the schema says. */
const referring = async (): Promise<readonly string[]> => {
  const file = join(temporaryFolder(), 'app-platform.db')
  await migrateFile(file, migrations)
  using database = new Database(file)
  return everyTable.flatMap((table) =>
    database
      .query<{ from: string; table: string }, []>(`PRAGMA foreign_key_list(${getTableName(table)})`)
      .all()
      .flatMap((key) => (key.table === 'users' ? [`${getTableName(table)}.${key.from}`] : [])),
  )
}

test('every column with the ID or the address of a person is in the list of what is theirs', async () => {
  const listed = personalRows.map(({ by }) => `${getTableName(by.table)}.${by.name}`)
  const named = placesOf((column) => /(?:^|_)(?:user|owner|person|holder|member|operator)_id$|^email$/.test(column))
  const own = new Set(['users.email', 'password_links.email']) // of a row that has the ID as well
  for (const column of [...(await referring()), ...named]) if (!own.has(column)) expect(listed).toContain(column)
  expect(new Set(listed).size).toBe(listed.length)
  // Columns with IDs of every kind of actor or thing. All but the first are the audit log and repeatable requests, which keep them.
  const mixed = placesOf((column) => /^(?:target|actor_id|principal|created_by)$/.test(column))
  expect(mixed.toSorted()).toEqual([
    'audit_events.actor_id',
    'audit_events.target',
    'carried_ends.target',
    'credentials.created_by',
    'idempotency_keys.principal',
  ])
  expect(listed).toContain('carried_ends.target')
})

test('every table with an expiry is in the list of what goes by age', () => {
  const withExpiry = everyTable.filter((table) =>
    Object.values(getTableColumns(table)).some(({ name }) => name.endsWith('expires_at')),
  )
  const goAlong = ['authorization_codes', 'token_pairs'] // with their grant
  const records = ['credentials', 'service_keys'] // of what could once be used
  const listed: readonly string[] = [...Object.keys(expiring), ...goAlong, ...records]
  for (const table of withExpiry) expect(listed).toContain(getTableName(table))
})

test('what goes by age is found in an index, and is named by its table', () => {
  for (const [name, { by }] of Object.entries(expiring)) {
    expect(getTableName(by.table)).toBe(name)
    const { primaryKeys } = getTableConfig(by.table)
    const isKey = by.primary || primaryKeys[0]?.columns[0]?.name === by.name
    expect([name, isKey || ['grants', 'idempotency_keys', 'webhook_events', 'webhook_secrets'].includes(name)]).toEqual(
      [
        name,
        true, // the walk over all grants, and the indexes of the others
      ],
    )
  }
})
