import { assertPrivate, migrate, type Migration, type MigrationProgress } from './migrate.ts'
import { assertServable } from './sqlite/servable.ts'
import { assertPlace } from './sqlite/place.ts'
import { patiently } from './sqlite/fault.ts'
import { canonicalPath, createPrivately, syncFolderOf } from './sqlite/files.ts'
import { withRoom } from './sqlite/room.ts'

/** Creates the database if there is none and brings its schema up to date; gives the names of what was applied. */
export const migrateFile = async (
  path: string,
  migrations: readonly Migration[],
  progress?: MigrationProgress,
): Promise<readonly string[]> => {
  const file = canonicalPath(path)
  assertPlace(file)
  await assertPrivate(file, migrations)
  return await withRoom(file, async () => await createAndMigrate(file, migrations, progress))
}

const createAndMigrate = async (
  file: string,
  migrations: readonly Migration[],
  progress?: MigrationProgress,
): Promise<readonly string[]> => {
  createPrivately(file)
  await patiently(() => assertServable(file))
  const applied = new Set(await migrate(file, migrations, progress))
  syncFolderOf(file)
  return migrations.filter(({ id }) => applied.has(id)).map(({ name }) => name)
}
