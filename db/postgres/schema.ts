import { createHash } from 'node:crypto'
import { DatabaseUnusable } from '../database.ts'
import { sqlState } from './fault.ts'
import type { Link } from './link.ts'

/** One step of the schema. Append-only: an applied one never changes, which its checksum proves. */
export type PostgresMigration = {
  readonly id: number
  readonly name: string
  readonly sql: string
  /** Lower-case hex SHA-256 of `sql`, as recorded when it was written. */
  readonly sha256: string
}

/** How many steps are applied. */
type State = { readonly applied: number }

/** Any number that no other program is likely to use. */
const migrationLock = 0x41707066

const recordText = `CREATE TABLE IF NOT EXISTS schema_migrations (
  id bigint PRIMARY KEY NOT NULL,
  name text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL
)`

/**
 * Looks at the tables of the database.
 * @throws DatabaseUnusable 'foreign' for another program's tables, 'newer', 'migration_changed'
 */
export const inspectTables = async (link: Link, migrations: readonly PostgresMigration[]): Promise<State> => {
  assertInOrder(migrations)
  const tables = (
    await link.send('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()', [])
  ).rows.flat()
  if (tables.length === 0) return { applied: 0 }
  if (!tables.includes('schema_migrations')) throw foreign()
  const { rows } = await link.send('SELECT id, name, sha256 FROM schema_migrations ORDER BY id', []).catch((error) => {
    throw sqlState(error) === '42703' ? foreign() : error // a table of this name with other columns
  })
  for (const [index, [id, name, sha256]] of rows.entries()) {
    const known = migrations[index]
    if (known === undefined) {
      const sentence = `The PostgreSQL database was migrated by a newer version of this program (${String(name)}).`
      throw new DatabaseUnusable('newer', sentence)
    }
    if (known.id !== id || known.sha256 !== sha256) {
      const sentence = `The PostgreSQL database has migration ${String(id)} (${String(name)}), which this program knows otherwise.`
      throw new DatabaseUnusable('migration_changed', sentence)
    }
  }
  return { applied: rows.length }
}

/**
 * Brings the schema up to date, in one transaction. Of several processes at once, one does it. Gives the names of the steps
 * that this call applied.
 * @throws DatabaseUnusable as `inspectTables` does, and 'migration_failed'
 */
export const migrateSchema = async (
  link: Link,
  migrations: readonly PostgresMigration[],
): Promise<readonly string[]> => {
  await link.send('BEGIN', [])
  try {
    await link.send('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    const { applied } = await inspectTables(link, migrations)
    const due = migrations.slice(applied)
    if (due.length > 0) await link.send(recordText, [])
    for (const step of due) await apply(link, step)
    await link.send('COMMIT', [])
    return due.map(({ name }) => name)
  } catch (error) {
    if (link.isOpen) await link.send('ROLLBACK', [])
    throw error
  }
}

const apply = async (link: Link, { id, name, sql, sha256 }: PostgresMigration): Promise<void> => {
  try {
    await link.sendAll(sql)
    await link.send('INSERT INTO schema_migrations (id, name, sha256) VALUES ($1, $2, $3)', [id, name, sha256])
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const sentence = `Migration ${id} (${name}) failed and was undone: ${reason}.`
    throw new DatabaseUnusable('migration_failed', sentence, { cause: error })
  }
}

const foreign = () =>
  new DatabaseUnusable('foreign', 'The PostgreSQL database has tables that are not of this program: use an empty one.')

const assertInOrder = (migrations: readonly PostgresMigration[]): void => {
  for (const [index, { id, name, sql, sha256 }] of migrations.entries()) {
    if (id !== index + 1) throw new Error(`Migration ${name} has ID ${id} in place ${index + 1}.`)
    if (createHash('sha256').update(sql).digest('hex') !== sha256)
      throw new Error(`Migration ${name} differs from its checksum.`)
  }
}
