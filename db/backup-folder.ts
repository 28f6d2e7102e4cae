import { hash } from 'node:crypto'
import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { BackupFile } from './database.ts'

// Dated backups in one folder, named after the database and the moment (UTC). The command line and the server name and remove
// them by the same rules.

/** How the backups of one database are named: `app-platform` and `.db`. */
export type BackupNames = { readonly stem: string; readonly extension: '.db' | '.dump' }

/** `app-platform` for `/var/lib/app-platform/app-platform.db`. */
export const namesForFile = (database: string): BackupNames => ({
  stem: basename(database, extname(database)),
  extension: '.db',
})

/**
 * For dumps of a PostgreSQL database of this name. What could be a path, or mean something to a shell, is left out; then a hash keeps
 * the dumps of two databases apart.
 */
export const namesForDumps = (database: string): BackupNames => {
  const plain = database.replaceAll(/[^\w-]+/g, '_').slice(0, 63)
  const stem = plain === database ? plain : `${plain}-${hash('sha256', database).slice(0, 8)}`
  return { stem, extension: '.dump' }
}

/** The name of a backup that is made at this moment, in epoch milliseconds. */
export const datedName = ({ stem, extension }: BackupNames, at: number): string =>
  `${stem}-${new Date(at).toISOString().replaceAll(':', '-')}${extension}`

const dated = /^-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/

/** When a backup with this name was made, in epoch milliseconds; null for any other name. */
const momentOf = (name: string, { stem, extension }: BackupNames): number | null => {
  const [, day = '', hours = '', minutes = '', seconds = ''] =
    name.startsWith(stem) && name.endsWith(extension)
      ? (dated.exec(name.slice(stem.length, -extension.length)) ?? [])
      : []
  const at = Date.parse(`${day}${hours}:${minutes}:${seconds}`)
  return Number.isNaN(at) ? null : at
}

/** The dated backups of the database in the folder, newest first. Links and other files are no backups. */
export const listFolder = (folder: string, names: BackupNames): readonly BackupFile[] =>
  namesIn(folder)
    .flatMap((name) => {
      const madeAt = momentOf(name, names)
      const found = madeAt === null ? undefined : lstatSync(join(folder, name), { throwIfNoEntry: false })
      return madeAt === null || found?.isFile() !== true ? [] : [{ name, madeAt, sizeBytes: found.size }]
    })
    .toSorted((one, other) => other.madeAt - one.madeAt)

const namesIn = (folder: string): readonly string[] =>
  lstatSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder)

/**
 * Removes all but the newest `keep` backups of the database and returns the names of the removed ones, oldest first. `newest`
 * stays, even after a clock change. So does what is newer: of two backups that end together, each would remove that of the other.
 */
export const pruneFolder = (
  folder: string,
  names: BackupNames,
  { keep, newest }: { readonly keep: number; readonly newest: string },
): readonly string[] => {
  const all = listFolder(folder, names)
  const own = all.find(({ name }) => name === newest)
  const isOlder = ({ name, madeAt }: BackupFile): boolean =>
    own === undefined || madeAt < own.madeAt || (madeAt === own.madeAt && name < newest)
  const older = all.filter((file) => file.name !== newest && isOlder(file))
  const removed = older
    .slice(Math.max(0, keep - (all.length - older.length)))
    .map(({ name }) => name)
    .toReversed()
  for (const name of removed) rmSync(join(folder, name), { force: true })
  return removed
}

/**
 * Renames a copy that may be damaged, so that a later backup does not count it and never removes a good one for it. Returns
 * the new path.
 */
export const setAside = (folder: string, { stem, extension }: BackupNames, name: string): string => {
  const kept = join(folder, `${stem}-failed${extension}`)
  renameSync(join(folder, name), kept)
  return kept
}
