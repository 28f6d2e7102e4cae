import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { connect, Connection } from '../sqlite/connection.ts'
import { createPrivately } from '../sqlite/files.ts'

/*
 * The copy of a backup that takes the name of the database once it is finished.
 */

/** Makes the copy through SQLite, so that the content of a WAL beside the backup is included. */
export const copyWhole = (backup: string, copy: string): void => {
  createPrivately(copy)
  using source = new Connection(resolve(backup), { readonly: true })
  source.run('VACUUM INTO ?', [copy])
  // Statistics of ANALYZE steer every query, and what a backup says of itself is not to be trusted.
  using made = connect(copy)
  for (const table of ['sqlite_stat1', 'sqlite_stat4']) made.run(`DROP TABLE IF EXISTS ${table}`)
}

/** Opens the copy without a WAL: one file holds everything, so that nothing has to be renamed with it. */
export const connectToCopy = (copy: string): Connection => {
  const connection = connect(copy)
  connection.value('PRAGMA main.journal_mode = DELETE')
  return connection
}

/** Removes an unfinished copy. */
export const removeCopy = (copy: string): void => {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(copy + suffix, { force: true })
}
