import { existsSync } from 'node:fs'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, type Migration } from './migrate.ts'
import { backUp } from './sqlite/backup.ts'
import { connect } from './sqlite/connection.ts'
import { assertNotMoved } from './sqlite/servable.ts'
import { assertPlace } from './sqlite/place.ts'
import { canonicalPath } from './sqlite/files.ts'

type BackupOptions = {
  readonly file: string
  readonly to: string
  readonly replace: boolean
  readonly migrations: readonly Migration[]
}

/**
 * Backs a database up without opening it for use, so that one whose schema is behind can be saved before it is migrated.
 * @throws DatabaseUnusable when there is none, it is not ours, it has several names, each with a WAL that the others do not
 *   know, or `to` exists and may not be replaced
 */
export const backupFile = ({ file, to, replace, migrations }: BackupOptions): void => {
  if (!existsSync(file)) throw new DatabaseUnusable('missing', `There is no database at ${file}.`)
  const path = canonicalPath(file)
  assertPlace(path)
  if (inspectSchema(path, migrations) === 'empty') throw new DatabaseUnusable('missing', `${file} is empty.`)
  const connection = connect(path, { synchronous: 'FULL', busyTimeoutMs: 1_000 })
  try {
    assertNotMoved(connection, path)
    backUp(connection, to, { replace })
  } finally {
    connection.close()
  }
}
