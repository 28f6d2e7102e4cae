import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { migrateFile } from '../../../db/migrate-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Every step of the schema that the previous release knew. */
export const previousMigrations = migrations.slice(0, 1)
/** What this release adds to it. */
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
    database.run(`INSERT INTO main.${table} (${common}) SELECT ${common} FROM today.${table}`)
  }
  database.run('DETACH today')
  database.run('PRAGMA journal_mode = WAL')
  return file
}
