import { existsSync } from 'node:fs'
import { damagedArtifacts } from './check-artifacts.ts'
import { damagedKeys } from './check-keys.ts'
import { DatabaseUnusable } from './database.ts'
import type { Migration } from './migrate.ts'
import { findFaults } from './sqlite/check.ts'
import { Connection } from './sqlite/connection.ts'
import { faultKind } from './sqlite/fault.ts'
import { canonicalPath } from './sqlite/files.ts'

/** Everything that is wrong with a database file, in plain sentences, also when it could not be opened for use. */
export const checkFile = (
  path: string,
  migrations: readonly Migration[],
  kind: 'database' | 'backup' = 'database',
): readonly string[] => {
  if (!existsSync(path)) return [`There is no database at ${path}.`]
  const file = canonicalPath(path)
  const connection = new Connection(file, { readonly: true })
  try {
    connection.run('PRAGMA busy_timeout = 1000')
    const faults = findFaults(connection, file, migrations, kind)
    return faults.length > 0 ? faults : [...damagedKeys(connection), ...damagedArtifacts(connection)]
  } catch (error) {
    if (error instanceof DatabaseUnusable) return [error.message]
    if (faultKind(error) !== 'state_unknown') throw error
    return [`${file} cannot be read as an SQLite database.`]
  } finally {
    connection.close()
  }
}
