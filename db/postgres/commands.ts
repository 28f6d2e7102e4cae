import { DatabaseUnusable, type WriteEvent } from '../database.ts'
import { type Connection, connectForLooking } from '../sqlite/connection.ts'
import { parseAddress } from './address.ts'
import { findTableFaults } from './check.ts'
import { importInto } from './import.ts'
import type { Link } from './link.ts'
import { Primary } from './primary.ts'
import { recoverTables } from './recover.ts'
import { inspectTables, migrateSchema, type PostgresMigration } from './schema.ts'
import { assertServer, sentenceFor } from './server-check.ts'

type Migrations = readonly PostgresMigration[]
type Moment = { readonly now: number; readonly event: WriteEvent }

/**
 * Checks the server and its tables, and brings them up to date if asked to.
 * @throws DatabaseUnusable with a sentence for the operator
 */
export const prepare = async (
  primary: Primary,
  { migrate, migrations }: { readonly migrate: boolean; readonly migrations: readonly PostgresMigration[] },
): Promise<{ readonly applied: readonly string[]; readonly databaseBytes: number }> => {
  try {
    const { link } = await primary.connect()
    try {
      await assertServer(link)
      const names = migrate ? await migrateSchema(link, migrations) : []
      const { applied } = await inspectTables(link, migrations)
      if (applied === 0)
        throw new DatabaseUnusable('missing', 'The PostgreSQL database is empty: run migrate or serve first.')
      if (applied < migrations.length) {
        throw new DatabaseUnusable(
          'outdated',
          'The schema of the PostgreSQL database is behind this program: run migrate.',
        )
      }
      const [[bytes] = []] = (await link.send('SELECT pg_database_size(current_database())', [])).rows
      return { applied: names, databaseBytes: Number(bytes) }
    } finally {
      link.close()
    }
  } catch (error) {
    throw (error instanceof DatabaseUnusable ? null : sentenceFor(error)) ?? error
  }
}

/** Brings the schema up to date; gives the names of the steps that were applied. @throws DatabaseUnusable */
export const migratePostgres = async (
  url: string,
  migrations: readonly PostgresMigration[],
): Promise<readonly string[]> => (await prepare(new Primary(parseAddress(url)), { migrate: true, migrations })).applied

/** Everything that is wrong with the database, in plain sentences, also if it cannot be opened for use. */
export const checkPostgres = async (
  url: string,
  migrations: readonly PostgresMigration[],
): Promise<readonly string[]> => {
  try {
    const primary = new Primary(parseAddress(url))
    await prepare(primary, { migrate: false, migrations })
    const { link } = await primary.connect()
    return await findTableFaults(link, migrations).finally(() => link.close())
  } catch (error) {
    if (error instanceof DatabaseUnusable) return [error.message]
    throw error
  }
}

/** As `recoverSqlite`, on a database that no server uses. @throws DatabaseUnusable */
export const recoverPostgres = async (url: string, migrations: Migrations, moment: Moment) =>
  await alone(url, migrations, async (link) => await recoverTables(link, moment))

/** Copies the sealed copy of a moved SQLite database into an empty database. @throws DatabaseUnusable */
export const importPostgres = async (url: string, migrations: Migrations, sealed: string, moment: Moment) => {
  using connection: Connection = connectForLooking(sealed)
  return await alone(url, migrations, async (link) => await importInto(link, connection, moment))
}

const alone = async <T>(url: string, migrations: Migrations, work: (link: Link) => Promise<T>): Promise<T> => {
  const primary = new Primary(parseAddress(url))
  await prepare(primary, { migrate: true, migrations })
  const { link } = await primary.connect({ idle_in_transaction_session_timeout: '0' }) // it reads a file in between
  try {
    return await work(link)
  } catch (error) {
    throw (error instanceof DatabaseUnusable ? null : sentenceFor(error)) ?? error
  } finally {
    link.close()
  }
}
