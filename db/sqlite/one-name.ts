import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseUnusable } from '../database.ts'

/** Under which a restore keeps what it replaces. */
export const keptName = (database: string, at: number): string =>
  keptPrefix(database) + new Date(at).toISOString().replaceAll(':', '-')

const keptPrefix = (database: string): string => `${database}.before-`

/** A sentence about a file that has further names (hard links), or none. */
export const furtherNames = (file: string): readonly string[] => {
  const names = statSync(file, { throwIfNoEntry: false })?.nlink ?? 0
  return names <= 1 || names - keptNames(file) <= 1
    ? []
    : [
        `${file} has another name as well (a hard link), under which a second server would not be noticed: ` +
          `find it with find / -xdev -samefile ${file} and remove it, or put a copy in its place`,
      ]
}

/** How many names a restore left that was killed before the first name led to the backup; nobody serves those. */
const keptNames = (file: string): number => {
  const { dev, ino } = statSync(file)
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(keptPrefix(file))))
    .map((name) => statSync(join(dirname(file), name), { throwIfNoEntry: false }))
    .filter((found) => found?.dev === dev && found.ino === ino).length
}

/**
 * Each name of a file has a WAL and a lock of its own, so that two servers, or one and a command, would not see each other
 * and damage it. Symbolic links are no names: they are resolved before.
 * @throws DatabaseUnusable ('linked') for a file with further names
 */
export const assertOneName = (file: string): void => {
  const found = furtherNames(file)
  if (found.length > 0) throw new DatabaseUnusable('linked', `${found.join('; ')}.`)
}
