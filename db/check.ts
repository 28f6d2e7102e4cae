import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { malformedKeys } from './malformed-keys.ts'
import { DatabaseUnusable } from './database.ts'
import { inspectSchema, type Migration, orphansOf } from './migrate.ts'
import { readAcknowledged } from './sqlite/acknowledged.ts'
import { Connection, connectForLooking } from './sqlite/connection.ts'
import { faultKind } from './sqlite/fault.ts'
import { canonicalPath, companionsOf, exposures } from './sqlite/files.ts'
import { furtherNames, isThere, lostSentence, misplacedCompanions, modeFaults } from './sqlite/place.ts'
import { foreignWalSentence, missingSentence, movedFault } from './sqlite/servable.ts'
import { closedPlace, damagedSentence, type FileKind, isDamage, remedies, unreadable } from './faults/system.ts'

/** Everything that is wrong with a database file, in plain sentences, also if it cannot be opened for use. */
export const checkFile = (
  path: string,
  migrations: readonly Migration[],
  kind: FileKind = 'database',
): readonly string[] => {
  if (!isThere(path)) return [lostSentence(path) ?? `There is no database at ${path}.`]
  const file = canonicalPath(path)
  const lost = lostSentence(file)
  if (lost !== null) return [lost] // before anything is opened
  if (statSync(file).size === 0) return [`${file} is empty.`]
  const misplaced = misplacedCompanions(file)
  if (misplaced.length > 0) return misplaced
  const closed = kind === 'database' ? closedPlace(file) : null // a backup may be where nobody writes
  if (closed !== null) return [closed]
  const tooStrict = kind === 'database' ? modeFaults(file) : []
  if (tooStrict.length > 0) return tooStrict
  try {
    using connection = new Connection(file, { readonly: true })
    connection.run('PRAGMA busy_timeout = 1000')
    const faults = findFaults(connection, file, migrations, kind)
    if (faults.length > 0) return faults
    return isFromEarlier(file, migrations) ? [] : rowFaults(connection, kind) // which know the tables of today
  } catch (error) {
    if (error instanceof DatabaseUnusable) return [error.message]
    if (faultKind(error) !== 'state_unknown') throw error
    return [unreadable(file, error, kind).message]
  }
}

/** What is wrong with an open database, its files and its schema, in plain sentences. Reads every page. */
export const findFaults = (
  connection: Connection,
  file: string,
  migrations: readonly Migration[],
  kind: FileKind = 'database',
): readonly string[] => {
  const readable = readerOf(file, kind)
  const mixed = readable(() => [foreignWalSentence(file, connection)].filter((sentence) => sentence !== null))
  if (mixed.length > 0) return mixed
  const ofFiles = [...exposures([file, ...Object.values(companionsOf(file))]), ...furtherNames(file)]
  const faults = [
    ...ofFiles.map((sentence) => `${sentence}.`),
    ...folderFaults(dirname(file)),
    ...contentFaults(connection, file, kind),
    ...(kind === 'backup' ? [] : readable(() => missingFaults(connection, file))),
    ...schemaFaults(file, migrations, kind),
  ]
  return [...new Set(faults)]
}

/**
 * The check of a command that is about to put a file in use: everything that `check FILE` looks at, except who may read the
 * file. An older schema is accepted, because the command migrates it.
 * @throws DatabaseUnusable as `inspectSchema` does, and 'damaged' with the first faults
 */
export const assertSound = (file: string, migrations: readonly Migration[], kind: FileKind): void => {
  const state = inspectSchema(file, migrations, kind)
  using connection = connectForLooking(file)
  connection.run('PRAGMA busy_timeout = 1000')
  const found = [
    ...contentFaults(connection, file, kind),
    ...(state === 'current' ? readerOf(file, kind)(() => rowFaults(connection, kind)) : []),
  ]
  if (found.length === 0) return
  const damaged = damagedSentence(file, kind)
  const faults = found.filter((sentence) => sentence !== damaged)
  const further = faults.length > 3 ? ` ${faults.length - 3} more: app-platform check tells all.` : ''
  throw new DatabaseUnusable('damaged', `${[damaged, ...faults.slice(0, 3)].join(' ')}${further}`)
}

const contentFaults = (connection: Connection, file: string, kind: FileKind): readonly string[] => {
  const readable = readerOf(file, kind)
  return [
    ...readable(() => {
      const faults = pageFaults(connection)
      return faults.length === 0 ? [] : [damagedSentence(file, kind), ...faults]
    }),
    ...readable(() => orphansOf(connection).map((sentence) => `${sentence}.`)),
  ]
}

const rowFaults = (connection: Connection, kind: FileKind): readonly string[] => [
  ...damagedKeys(connection, remedies[kind]),
  ...damagedArtifacts(connection, remedies[kind]),
]

/** Some damage keeps SQLite from finishing its own check. The reader throws an error that says nothing about the content. */
const readerOf =
  (file: string, kind: FileKind) =>
  (look: () => readonly string[]): readonly string[] => {
    try {
      return look()
    } catch (error) {
      if (!isDamage(error)) throw error
      return [damagedSentence(file, kind)]
    }
  }

const writableByOthers = 0o022
/** In such a folder, as /tmp is, nobody can replace the files of others. */
const sticky = 0o1000

const folderFaults = (folder: string): readonly string[] =>
  (statSync(folder).mode & writableByOthers) === 0 || (statSync(folder).mode & sticky) !== 0
    ? []
    : [`Other users of this machine may replace files in ${folder}: run chmod 700 ${folder}.`]

const pageFaults = (connection: Connection): readonly string[] => {
  const verdicts = connection
    .rows<{ integrity_check: string }>('PRAGMA integrity_check')
    .map((row) => row.integrity_check)
  const found = verdicts
    .flatMap((verdict) => verdict.split('\n'))
    .filter((line) => line !== 'ok' && !line.startsWith('***'))
  if (found.length === 0) return []
  const further = found.length > mostFindings ? `, and ${found.length - mostFindings} more` : ''
  return [`SQLite finds: ${found.slice(0, mostFindings).join('; ').replace(/\.$/, '')}${further}.`]
}

/** A page at fault tends to have a hundred. They are for those who know SQLite. */
const mostFindings = 5

const missingFaults = (connection: Connection, file: string): readonly string[] => {
  const sentence = movedFault(connection, file)?.message ?? missingSentence(connection, file, readAcknowledged(file))
  return sentence === null ? [] : [sentence]
}

/** A backup from before an upgrade is sound, because a restore migrates it. */
const schemaFaults = (file: string, migrations: readonly Migration[], kind: FileKind): readonly string[] => {
  try {
    const state = inspectSchema(file, migrations, kind)
    if (state === 'empty') return [`${file} is empty.`]
    return state === 'current' || kind === 'backup'
      ? []
      : [`The schema of ${file} is behind this program: run migrate.`]
  } catch (error) {
    if (error instanceof DatabaseUnusable) return [error.message]
    throw error
  }
}

/** Whether an earlier version of this program has made the file. @throws DatabaseUnusable as `inspectSchema` does */
export const isFromEarlier = (file: string, migrations: readonly Migration[]): boolean =>
  inspectSchema(file, migrations) === 'behind'

/** The tables that contain a malformed key, in plain sentences. */
const damagedKeys = (connection: Connection, remedy: string): readonly string[] =>
  malformedKeys("key GLOB '*[^0-9A-Za-z]*'")
    .filter(({ text }) => connection.value(text) !== 0)
    .map(({ table }) => `A key in ${table} is damaged: ${remedy}.`)

type UsedArtifact = { readonly sha256: Uint8Array; readonly size: number; readonly example: string }

/**
 * The artifacts of versions that are not what was uploaded, in plain sentences. Content may be changed by the disk or by another
 * program although every page is sound. Reads every piece, one at a time.
 */
const damagedArtifacts = (connection: Connection, remedy: string): readonly string[] => {
  const used = connection.rows<UsedArtifact>(
    `SELECT artifacts.sha256, artifacts.size_bytes AS size, min(apps.slug || ' ' || versions.version) AS example
     FROM artifacts JOIN versions ON versions.artifact_sha256 = artifacts.sha256 JOIN apps ON apps.id = versions.app_id
     GROUP BY artifacts.sha256`,
  )
  using piece = connection.prepare<{ data: Uint8Array }, [Uint8Array, number]>(
    'SELECT data FROM artifact_chunks WHERE sha256 = ? AND position = ?',
  )
  const isWhole = ({ sha256, size }: UsedArtifact): boolean => {
    const hash = createHash('sha256')
    let read = 0
    for (let position = 0; read < size; position += 1) {
      const { data } = piece.get(sha256, position) ?? { data: new Uint8Array() }
      if (data.length === 0) return false
      hash.update(data)
      read += data.length
    }
    return read === size && hash.digest().equals(sha256)
  }
  return used
    .filter((artifact) => !isWhole(artifact))
    .map(({ example }) => `The artifact of ${example} is damaged: ${remedy}, or upload it again.`)
}
