import { createHash } from 'node:crypto'
import { DatabaseUnusable } from '../database.ts'
import { notesOfStep } from '../migrations/index.ts'
import { sqlState } from './fault.ts'
import type { Link } from './link.ts'
import { heardWithin, silenceMs } from './nodes.ts'

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
const inspectTables = async (link: Link, migrations: readonly PostgresMigration[]): Promise<State> => {
  assertInOrder(migrations)
  await assertSchema(link)
  const tables = (
    await link.send('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()', [])
  ).rows.flat()
  if (tables.length === 0) return await assertNowhereElse(link)
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

const schemaText = `SELECT current_schema(), current_user,
  EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public' AND NOT has_schema_privilege(oid, 'USAGE'))`

/** @throws DatabaseUnusable if new tables would go nowhere, or among those of PostgreSQL itself */
const assertSchema = async (link: Link): Promise<void> => {
  const [[schema, user, isClosed] = []] = (await link.send(schemaText, [])).rows
  if (schema === null && isClosed === true) {
    const sentence = `The user of DATABASE_URL may not use the schema public of the PostgreSQL database: run GRANT USAGE, CREATE ON SCHEMA public TO "${String(user)}" as its owner.`
    throw new DatabaseUnusable('unreachable', sentence)
  }
  if (schema !== 'pg_catalog' && schema !== 'information_schema') return
  const sentence = `The schema ${schema} is of PostgreSQL itself, and the search_path of the user of DATABASE_URL begins with it: run ALTER ROLE or ALTER DATABASE with SET search_path = public.`
  throw new DatabaseUnusable('foreign', sentence)
}

/** @throws DatabaseUnusable if the tables are in a schema that the search_path does not begin with */
const assertNowhereElse = async (link: Link): Promise<State> => {
  const text = "SELECT min(schemaname), current_schema() FROM pg_tables WHERE tablename = 'schema_migrations'"
  const [[schema, current] = []] = (await link.send(text, [])).rows
  if (typeof schema !== 'string') return { applied: 0 }
  const sentence = `The tables of the PostgreSQL database are in the schema ${schema}, and the search_path of the user of DATABASE_URL begins with ${String(current)}: run ALTER ROLE or ALTER DATABASE with SET search_path = ${schema}.`
  throw new DatabaseUnusable('foreign', sentence)
}

/** @throws DatabaseUnusable unless all steps are applied, and none that this program does not know */
export const assertCurrent = async (link: Link, migrations: readonly PostgresMigration[]): Promise<void> => {
  const { applied } = await inspectTables(link, migrations)
  if (applied === 0)
    throw new DatabaseUnusable('missing', 'The PostgreSQL database is empty: run migrate or serve first.')
  if (applied < migrations.length) {
    throw new DatabaseUnusable('outdated', 'The schema of the PostgreSQL database is behind this program: run migrate.')
  }
}

export const changesLostSentence =
  'PostgreSQL has failed over and lacks changes that were acknowledged: stop all servers and run app-platform recover --accept-loss.'

/** @throws DatabaseUnusable ('rolled_back') if a node has noticed that acknowledged changes are missing (`timelines.ts`) */
export const assertNothingMissing = async (link: Link): Promise<void> => {
  const { rows } = await link.send('SELECT 1 FROM timelines WHERE lost_at IS NOT NULL LIMIT 1', [])
  if (rows.length > 0) throw new DatabaseUnusable('rolled_back', changesLostSentence)
}

export const lockMissingSentence =
  "The row 'serial' of the table locks in the PostgreSQL database is gone, so changes could overwrite each other: put it back with INSERT INTO locks (name) VALUES ('serial')."

/** @throws DatabaseUnusable ('altered') without the row that serial transactions lock */
export const assertLockable = async (link: Link): Promise<void> => {
  const { rows } = await link.send("SELECT 1 FROM locks WHERE name = 'serial'", [])
  if (rows.length === 0) throw new DatabaseUnusable('altered', lockMissingSentence)
}

/**
 * Brings the schema up to date, in one transaction. Of several processes at once, one does it. Gives the names of the steps
 * that this call applied. `alone`: an outdated schema that other servers use is refused.
 * @throws DatabaseUnusable as `inspectTables` does, and 'migration_failed'
 */
export const migrateSchema = async (
  link: Link,
  migrations: readonly PostgresMigration[],
  { alone }: { readonly alone: boolean },
): Promise<readonly string[]> => {
  await link.send('BEGIN', [])
  try {
    await link.send('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    const { applied } = await inspectTables(link, migrations)
    const due = migrations.slice(applied)
    if (alone && applied > 0 && due.length > 0) await assertAlone(link)
    if (due.length > 0) await link.send(recordText, [])
    for (const step of due) await apply(link, step)
    const [first, last] = [migrations[applied - 1], due.at(-1)] // of new tables there is nothing to tell
    if (first !== undefined && last !== undefined)
      for (const note of notesOfStep(first.id, last.id)) await link.send(note, [])
    await link.send('COMMIT', [])
    return due.map(({ name }) => name)
  } catch (error) {
    if (link.isOpen) await link.send('ROLLBACK', [])
    throw error
  }
}

const assertAlone = async (link: Link): Promise<void> => {
  await link.send('LOCK TABLE nodes IN EXCLUSIVE MODE', []) // keeps servers from starting until the end
  const { rows } = await link.send(`SELECT 1 FROM nodes WHERE ${heardWithin(silenceMs)}`, [])
  if (rows.length === 0) return
  const sentence =
    'The schema of the PostgreSQL database is behind this program, and other servers use it: stop them, or run app-platform migrate.'
  throw new DatabaseUnusable('outdated', sentence)
}

/** SQLSTATEs of a name that something else has. */
const nameTaken: ReadonlySet<string> = new Set(['42P07', '42710'])

const apply = async (link: Link, { id, name, sql, sha256 }: PostgresMigration): Promise<void> => {
  try {
    await link.sendAll(sql)
    await link.send('INSERT INTO schema_migrations (id, name, sha256) VALUES ($1, $2, $3)', [id, name, sha256])
  } catch (error) {
    if (id === 1 && nameTaken.has(sqlState(error) ?? '')) throw foreign() // a view or a type, say
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
