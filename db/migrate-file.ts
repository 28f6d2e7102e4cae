import { migrate, type Migration } from './migrate.ts'
import { assertServable } from './sqlite/acknowledged.ts'
import { assertOneName } from './sqlite/one-name.ts'
import { patiently } from './sqlite/patiently.ts'
import { assertPrivate, canonicalPath, createPrivately, syncFolderOf } from './sqlite/private-file.ts'

/** Creates the database if there is none and brings its schema up to date; gives the names of what was applied. */
export const migrateFile = async (path: string, migrations: readonly Migration[]): Promise<readonly string[]> => {
  const file = canonicalPath(path)
  assertOneName(file)
  createPrivately(file)
  assertPrivate(file)
  await patiently(() => assertServable(file))
  const applied = new Set(await migrate(file, migrations))
  syncFolderOf(file)
  return migrations.filter(({ id }) => applied.has(id)).map(({ name }) => name)
}
