import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DatabaseUnusable } from './database.ts'
import { notesOfStep } from './migrations/index.ts'
import { connect, connectForLooking, type Connection } from './sqlite/connection.ts'
import { faultKind, lacksRoom, patiently } from './sqlite/fault.ts'
import { canonicalPath, companionsOf, createPrivately, exposures, syncFolderOf } from './sqlite/files.ts'
import { assertPlace } from './sqlite/place.ts'
import { assertLeavesReserve, withRoom } from './sqlite/room.ts'
import { activeObject, differenceFrom, recordOfMigrations, type SchemaObject } from './sqlite/schema.ts'
import { assertOwnWal, assertServable } from './sqlite/servable.ts'
import { type FileKind, remedies, unreadable } from './faults/system.ts'

/** One step of the schema. Append-only: an applied one never changes, which its checksum proves. */
export type Migration = {
  readonly id: number
  readonly name: string
  readonly sql: string
  /** Lower-case hex SHA-256 of `sql`, as recorded when it was written. */
  readonly sha256: string
}

/** 'Appf': marks the file as ours (`PRAGMA application_id`, listed by file(1) like any other). */
export const applicationId = 0x41707066

type Applied = { readonly id: number; readonly name: string; readonly sha256: string }

/** What a file is to this program: empty, ours and current, or ours and behind. Everything else is refused. */
type SchemaState = 'empty' | 'behind' | 'current'

/**
 * Looks at a file without changing its content, in one read transaction, because another process may be migrating it.
 * @throws DatabaseUnusable 'out_of_reach' if its place is at fault; 'damaged' if it cannot be read or its schema is not as the
 *   migrations make it; 'foreign' for another
 *   program's file; 'newer' if a later version of this program migrated it; 'altered' if others have added something;
 *   'migration_changed' if an applied migration is not the one of this program; 'rolled_back' under the WAL of another file
 */
export const inspectSchema = (
  file: string,
  migrations: readonly Migration[],
  kind: FileKind = 'database',
): SchemaState => {
  assertInOrder(migrations)
  try {
    using connection = connectForLooking(file)
    connection.run('PRAGMA busy_timeout = 1000')
    assertOwnWal(file, connection)
    connection.run('BEGIN')
    return schemaState(connection, file, migrations, kind)
  } catch (error) {
    if (lacksRoom(error) || faultKind(error) !== 'state_unknown') throw error
    throw unreadable(file, error, kind)
  }
}

/**
 * @throws DatabaseUnusable if other users may read or write the file or its companions; before that as `inspectSchema` does,
 *   because only a database of this program needs protection
 */
export const assertPrivate = async (file: string, migrations: readonly Migration[]): Promise<void> => {
  const { wal, shm } = companionsOf(file)
  const found = exposures([file, wal, shm])
  if (found.length === 0) return
  if (existsSync(file)) await patiently(() => inspectSchema(file, migrations))
  throw new DatabaseUnusable('not_private', `${found.join('; ')}.`)
}

/** Creates the database if there is none and brings its schema up to date. Returns the names of what was applied. */
export const migrateFile = async (path: string, migrations: readonly Migration[]): Promise<readonly string[]> => {
  const file = canonicalPath(path)
  assertPlace(file)
  await assertPrivate(file, migrations)
  return await withRoom(file, async () => {
    createPrivately(file)
    await patiently(() => assertServable(file))
    const applied = await migrate(file, migrations)
    syncFolderOf(file)
    return applied
  })
}

/**
 * Brings the schema up to date. Each migration is one durable transaction, so that a kill at any moment leaves the old
 * schema or the new one. If several processes migrate at once, each migration is applied by one of them. Returns the names of
 * the migrations that this call applied.
 * @throws DatabaseUnusable as `inspectSchema` does; 'full' before it begins on a disk with no room; 'migration_failed'
 */
export const migrate = async (file: string, migrations: readonly Migration[]): Promise<readonly string[]> => {
  const state = await patiently(() => inspectSchema(file, migrations))
  if (state === 'current') return []
  // A step may write much. It must not begin where it would use what ending access needs.
  if (state === 'behind') assertLeavesReserve(file, 0)
  using connection = await patiently(() => connect(file, { busyTimeoutMs: 50 }))
  // Off for the whole connection: inside a transaction the pragma does nothing, and rebuilding a table would delete
  // its children.
  connection.run('PRAGMA foreign_keys = OFF')
  const applied: string[] = []
  for (const migration of migrations) {
    // Without a WAL, as in a new file, readers in other processes would otherwise block COMMIT.
    await patiently(() => connection.run('BEGIN EXCLUSIVE'))
    try {
      if (applyOnce(connection, file, migrations, migration)) applied.push(migration.name)
      connection.run('COMMIT')
    } finally {
      if (connection.inTransaction) connection.run('ROLLBACK')
    }
  }
  return applied
}

/** False if another process has applied it in the meantime. */
const applyOnce = (
  connection: Connection,
  file: string,
  migrations: readonly Migration[],
  migration: Migration,
): boolean => {
  schemaState(connection, file, migrations)
  const before = appliedTo(connection)
  if (before.some(({ id }) => id === migration.id)) return false
  connection.run(`PRAGMA application_id = ${applicationId}`)
  connection.run(recordOfMigrations)
  try {
    connection.run(migration.sql)
  } catch (error) {
    if (lacksRoom(error)) throw error // it was undone, and the sentence about the disk says what to do
    throw failed(migration, error instanceof Error ? error.message : String(error), error)
  }
  if (!connection.inTransaction) throw failed(migration, 'it ended its own transaction')
  const orphans = orphansOf(connection)
  if (orphans.length > 0) throw failed(migration, orphans.join('; '))
  connection.run('INSERT INTO schema_migrations (id, name, sha256) VALUES (?, ?, ?)', [
    migration.id,
    migration.name,
    migration.sha256,
  ])
  const last = before.at(-1)
  if (last !== undefined && hasTable(connection, 'watermarks'))
    for (const note of notesOfStep(last.id, migration.id)) connection.run(note)
  return true
}

/** Expects a transaction to be under way. */
const schemaState = (
  connection: Connection,
  file: string,
  migrations: readonly Migration[],
  kind: FileKind = 'database',
): SchemaState => {
  const id = connection.value('PRAGMA application_id')
  const tables = connection.value('SELECT count(*) FROM sqlite_schema')
  if (id === 0 && tables === 0) return 'empty'
  if (id !== applicationId) throw new DatabaseUnusable('foreign', `${file} is not a database of this program.`)
  const active = activeObject(connection)
  if (active !== null) throw foreignObject(active, file)
  const applied = appliedTo(connection)
  for (const [index, { id, name, sha256 }] of applied.entries()) {
    const known = migrations[index]
    if (!known) {
      throw new DatabaseUnusable('newer', `${file} was migrated by a newer version of this program (${name}).`)
    }
    if (known.id !== id || known.sha256 !== sha256) {
      throw new DatabaseUnusable(
        'migration_changed',
        `${file} has migration ${id} (${name}), which this program knows otherwise.`,
      )
    }
  }
  const difference = differenceFrom(connection, migrations.slice(0, applied.length))
  if (difference?.kind === 'foreign') throw foreignObject(difference.object, file)
  if (difference !== null) {
    const sentence = `${difference.object.name} in ${file} is not as this program made it: the file is damaged, or was changed by hand: ${remedies[kind]}.`
    throw new DatabaseUnusable('damaged', sentence)
  }
  return applied.length < migrations.length ? 'behind' : 'current'
}

const foreignObject = ({ type, name }: SchemaObject, file: string) => {
  // A name that somebody chose with care could be more than a name in a shell.
  const command = /^\w+$/.test(name) ? ` with sqlite3 ${file} 'DROP ${type.toUpperCase()} ${name}'` : ''
  return new DatabaseUnusable(
    'altered',
    `The ${type} ${name} in ${file} was not made by this program, which accepts nothing that others have added: ` +
      `remove it${command}, or restore another backup.`,
  )
}

const hasTable = (connection: Connection, name: 'schema_migrations' | 'watermarks'): boolean =>
  connection.value(`SELECT count(*) FROM sqlite_schema WHERE name = '${name}'`) === 1

const appliedTo = (connection: Connection): readonly Applied[] => {
  if (!hasTable(connection, 'schema_migrations')) return []
  return connection.rows<Applied>('SELECT id, name, sha256 FROM schema_migrations ORDER BY id')
}

/** Sentences about rows whose foreign key leads nowhere, one for each table and parent. */
export const orphansOf = (connection: Connection): readonly string[] =>
  connection
    .rows<{ readonly table: string; readonly parent: string; readonly rows: number }>(
      'SELECT "table", parent, count(*) AS rows FROM pragma_foreign_key_check GROUP BY "table", parent',
    )
    .map(({ table, parent, rows }) => `${rows} row(s) of ${table} refer to missing rows of ${parent}`)

const failed = ({ id, name }: Migration, reason: string, cause?: unknown) =>
  new DatabaseUnusable('migration_failed', `Migration ${id} (${name}) failed and was undone: ${reason}.`, { cause })

const assertInOrder = (migrations: readonly Migration[]): void => {
  for (const [index, { id, name, sql, sha256 }] of migrations.entries()) {
    if (id !== index + 1) throw new Error(`Migration ${name} has ID ${id} in place ${index + 1}.`)
    if (createHash('sha256').update(sql).digest('hex') !== sha256)
      throw new Error(`Migration ${name} differs from its checksum.`)
  }
}
