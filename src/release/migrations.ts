import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Hashes of released migrations by dialect and file. A database that has run one would never see an edit of it. */
type Released = Readonly<Record<string, Readonly<Record<string, string>>>>

const folders = { sqlite: '.', postgres: 'postgres' }

/** The migrations in the folder `db/migrations`, as they are. */
const presentIn = (folder: string): Released =>
  Object.fromEntries(
    Object.entries(folders).map(([dialect, place]) => [
      dialect,
      Object.fromEntries(
        readdirSync(join(folder, place))
          .filter((file) => file.endsWith('.sql'))
          .toSorted()
          .map((file) => [file, Bun.SHA256.hash(readFileSync(join(folder, place, file)), 'hex')]),
      ),
    ]),
  )

const releasedIn = (folder: string): Released => JSON.parse(readFileSync(join(folder, 'released.json'), 'utf8'))

/** The released migrations that were changed or removed since, such as `sqlite 0003_embedded.sql`. */
export const editedMigrations = (folder: string): readonly string[] => {
  const present = presentIn(folder)
  return Object.entries(releasedIn(folder)).flatMap(([dialect, files]) =>
    Object.entries(files).flatMap(([file, hash]) => (present[dialect]?.[file] === hash ? [] : [`${dialect} ${file}`])),
  )
}

/** Adds the migrations that are new in this release; true if there were any. */
export const noteReleased = (folder: string): boolean => {
  const file = join(folder, 'released.json')
  const text = `${JSON.stringify(presentIn(folder), null, 2)}\n`
  if (readFileSync(file, 'utf8') === text) return false
  writeFileSync(file, text)
  return true
}
