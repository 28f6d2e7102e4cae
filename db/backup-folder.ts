import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { BackupFile } from './database.ts'

// Dated backups in one folder, named after the database and the moment (UTC). The command line and the server name and remove
// them by the same rules.

/** `app-platform` for `/var/lib/app-platform/app-platform.db`. */
const stemOf = (database: string): string => basename(database, extname(database))

/** The name of a backup that is made at this moment, in epoch milliseconds. */
export const datedName = (database: string, at: number): string =>
  `${stemOf(database)}-${new Date(at).toISOString().replaceAll(':', '-')}.db`

const dated = /^-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.db$/

/** When a backup with this name was made, in epoch milliseconds; null for any other name. */
const momentOf = (name: string, stem: string): number | null => {
  const [, day = '', hours = '', minutes = '', seconds = ''] = name.startsWith(stem)
    ? (dated.exec(name.slice(stem.length)) ?? [])
    : []
  const at = Date.parse(`${day}${hours}:${minutes}:${seconds}`)
  return Number.isNaN(at) ? null : at
}

/** The dated backups of the database in the folder, newest first. Links and other files are no backups. */
export const listFolder = (folder: string, database: string): readonly BackupFile[] =>
  namesIn(folder)
    .flatMap((name) => {
      const madeAt = momentOf(name, stemOf(database))
      const found = madeAt === null ? undefined : lstatSync(join(folder, name), { throwIfNoEntry: false })
      return madeAt === null || found?.isFile() !== true ? [] : [{ name, madeAt, sizeBytes: found.size }]
    })
    .toSorted((one, other) => other.madeAt - one.madeAt)

const namesIn = (folder: string): readonly string[] =>
  lstatSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder)

/**
 * Removes all but the newest `keep` backups of the database and returns the names of the removed ones, oldest first. `newest`
 * stays, even after a clock change.
 */
export const pruneFolder = (
  folder: string,
  database: string,
  { keep, newest }: { readonly keep: number; readonly newest: string },
): readonly string[] => {
  const older = listFolder(folder, database).filter(({ name }) => name !== newest)
  const removed = older
    .slice(keep - 1)
    .map(({ name }) => name)
    .toReversed()
  for (const name of removed) rmSync(join(folder, name), { force: true })
  return removed
}

/**
 * Renames a copy that may be damaged, so that a later backup does not count it and never removes a good one for it. Returns
 * the new path.
 */
export const setAside = (folder: string, database: string, name: string): string => {
  const kept = join(folder, `${stemOf(database)}-failed.db`)
  renameSync(join(folder, name), kept)
  return kept
}
