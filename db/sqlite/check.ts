import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseUnusable } from '../database.ts'
import { inspectSchema, type Migration, orphansOf } from '../migrate.ts'
import { foreignWalSentence, missingSentence, movedSentence } from './servable.ts'
import { readAcknowledged } from './acknowledged.ts'
import type { Connection } from './connection.ts'
import { faultKind } from './fault.ts'
import { furtherNames } from './place.ts'
import { companionsOf, exposures } from './files.ts'

const writableByOthers = 0o022

/** Everything that is wrong with a database, in plain sentences. Reads every page of it. */
export const findFaults = (
  connection: Connection,
  file: string,
  migrations: readonly Migration[],
  /** A backup has none of the files that stand beside a database. */
  kind: 'database' | 'backup' = 'database',
): readonly string[] => {
  const mixed = readable(() => [foreignWalSentence(file, connection)].filter((sentence) => sentence !== null))
  return mixed.length > 0 ? mixed : faultsWithin(connection, file, migrations, kind)
}

const faultsWithin = (
  connection: Connection,
  file: string,
  migrations: readonly Migration[],
  kind: 'database' | 'backup',
): readonly string[] => [
  ...[...exposures([file, ...Object.values(companionsOf(file))]), ...furtherNames(file)].map(
    (sentence) => `${sentence}.`,
  ),
  ...folderFaults(dirname(file)),
  ...readable(() => pageFaults(connection)),
  ...(kind === 'backup' ? [] : readable(() => missingFaults(connection, file))),
  ...readable(() => orphansOf(connection).map((sentence) => `${sentence}.`)),
  ...schemaFaults(file, migrations),
]

/** Some damage does not even let SQLite finish looking. */
const readable = (look: () => readonly string[]): readonly string[] => {
  try {
    return look()
  } catch (error) {
    if (faultKind(error) !== 'state_unknown') throw error
    return [`The file is damaged: ${error instanceof Error ? error.message : String(error)}.`]
  }
}

const pageFaults = (connection: Connection): readonly string[] => {
  using statement = connection.prepare<{ integrity_check: string }, []>('PRAGMA integrity_check')
  const verdicts = statement.all().map((row) => row.integrity_check)
  return verdicts.filter((verdict) => verdict !== 'ok').map((verdict) => `The file is damaged: ${verdict}.`)
}

const missingFaults = (connection: Connection, file: string): readonly string[] => {
  const sentence = movedSentence(connection, file) ?? missingSentence(connection, file, readAcknowledged(file))
  return sentence === null ? [] : [sentence]
}

const schemaFaults = (file: string, migrations: readonly Migration[]): readonly string[] => {
  try {
    const state = inspectSchema(file, migrations)
    return state === 'current' ? [] : [`The schema of ${file} is behind this program: run migrate.`]
  } catch (error) {
    if (error instanceof DatabaseUnusable) return [error.message]
    throw error
  }
}

const folderFaults = (folder: string): readonly string[] =>
  (statSync(folder).mode & writableByOthers) === 0
    ? []
    : [`Other users of this machine may replace files in ${folder}: run chmod 700 ${folder}.`]
