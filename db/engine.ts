import { backupFile, isDump } from './backup.ts'
import { type BackupNames, namesForFile } from './backup-folder.ts'
import { checkFile, isFromEarlier } from './check.ts'
import { type Database, DatabaseUnusable, type NodeFacts } from './database.ts'
import { postgresFaultAt } from './faults/postgres.ts'
import { migrateFile } from './migrate.ts'
import { migrations, postgresMigrations } from './migrations/index.ts'
import type { MoveProgress } from './postgres/import.ts'
import type { StoppedOptions } from './stopped.ts'
import { createQueries, type Queries } from './queries/index.ts'
import { openSqlite, type SqliteOptions } from './sqlite.ts'
import { checkInThread } from './sqlite/backups.ts'
import { parseAddress, placeOf } from './postgres/address.ts'
import { canonicalPath } from './sqlite/files.ts'
import { reservedBytes } from './sqlite/room.ts'
import { withPlace } from './faults/system.ts'

/** Where the data is: in an SQLite file, or in a PostgreSQL database. */
type Place = { readonly kind: 'sqlite'; readonly path: string } | { readonly kind: 'postgres'; readonly url: string }

/** The engine of PostgreSQL, which is loaded only for a database there. */
const postgres = async () => await import('./postgres.ts')
const postgresCommands = async () => await import('./postgres/commands.ts')
/** What ends everything issued. */
const stopped = async () => await import('./stopped.ts')

/** Opens the database with the engine of its place. @throws DatabaseUnusable */
export const openDatabase = async (
  place: Place,
  options: Omit<SqliteOptions<Queries>, 'file' | 'createQueries' | 'migrations'> & {
    readonly isPatient?: boolean
    readonly facts?: NodeFacts
  },
): Promise<Database> =>
  place.kind === 'sqlite'
    ? await openSqlite({ reserveBytes: reservedBytes, ...options, file: place.path, createQueries, migrations })
    : await (
        await postgres()
      ).openPostgres({ ...options, url: place.url, createQueries, migrations: postgresMigrations })

/** As `Store.explain`, for an error that came before the store was there, or beside it. */
export const faultAt = (place: Place, error: unknown): unknown => {
  if (error instanceof DatabaseUnusable) return error
  if (place.kind === 'sqlite') return withPlace(canonicalPath(place.path), error)
  const address = parseAddress(place.url)
  const places = placeOf(address, ...address.hosts)
  return postgresFaultAt(error, { place: places, places }) ?? error
}

/** Brings the schema up to date; gives the names of what was applied. @throws DatabaseUnusable */
export const migrateDatabase = async (place: Place): Promise<readonly string[]> =>
  place.kind === 'sqlite'
    ? await migrateFile(place.path, migrations)
    : await (await postgresCommands()).migratePostgres(place.url, postgresMigrations)

/** Everything that is wrong with the database, in plain sentences, also if it cannot be opened for use. */
export const checkDatabase = async (place: Place): Promise<readonly string[]> =>
  place.kind === 'sqlite'
    ? checkFile(place.path, migrations)
    : await (await postgresCommands()).checkPostgres(place.url, postgresMigrations)

/** The same beside a server in this process, which goes on answering. */
export const checkServedDatabase = async (place: Place): Promise<readonly string[]> =>
  place.kind === 'sqlite' ? await checkInThread(canonicalPath(place.path)) : await checkDatabase(place)

const dumps = async () => await import('./postgres/dump.ts')

/**
 * Writes a backup into one private file: a copy of the SQLite file, or a dump of the PostgreSQL database. Servers may run.
 * @throws DatabaseUnusable
 */
export const backUpDatabase = async (
  place: Place,
  { to, replace }: { readonly to: string; readonly replace: boolean },
): Promise<void> =>
  place.kind === 'sqlite'
    ? backupFile({ file: place.path, to, replace, migrations })
    : await (await dumps()).dumpPostgres({ url: place.url, to, replace })

/** How the backups of the database are named in a folder. @throws DatabaseUnusable for a URL that cannot be read */
export const backupNamesOf = async (place: Place): Promise<BackupNames> =>
  place.kind === 'sqlite' ? namesForFile(place.path) : (await dumps()).namesOfDumps(place.url)

/**
 * Everything that is wrong with a backup, in plain sentences, and whether an earlier version of this program has made it. What it is, an
 * SQLite file or a dump, is told by its first bytes.
 */
export const checkBackup = async (file: string) => {
  if (isDump(file)) return { problems: await (await dumps()).checkDump(file), isOlder: false }
  const problems = checkFile(file, migrations, 'backup')
  return { problems, isOlder: problems.length === 0 && isFromEarlier(file, migrations) }
}

/** Sends a dump of a PostgreSQL database to a stream. @throws DatabaseUnusable */
export const streamBackup = async (url: string, send: (dump: ReadableStream<Uint8Array>) => Promise<void>) =>
  await (await dumps()).streamDump(url, send)

type Moment = Pick<StoppedOptions, 'now' | 'event'>

/** Goes on with a database that no server uses and that has lost changes, and ends everything issued. @throws DatabaseUnusable */
export const recoverDatabase = async (place: Place, moment: Moment) =>
  place.kind === 'sqlite'
    ? await (await stopped()).recoverSqlite({ ...moment, file: place.path, migrations })
    : await (await postgresCommands()).recoverPostgres(place.url, postgresMigrations, moment)

/** Sets the trusted time back to a clock that was once ahead, and ends everything issued. @throws DatabaseUnusable */
export const resetDatabaseClock = async (place: Place, moment: Moment) =>
  place.kind === 'sqlite'
    ? await (await stopped()).resetClock({ ...moment, file: place.path, migrations })
    : await (await postgresCommands()).resetPostgresClock(place.url, postgresMigrations, moment)

/** Notes that a PostgreSQL database moves elsewhere by a dump: the next start there accepts it. @throws DatabaseUnusable */
export const planMoveOfPostgres = async (url: string, moment: Moment) =>
  await (await postgresCommands()).planPostgresMove(url, postgresMigrations, moment)

/**
 * Moves a stopped SQLite database into an empty PostgreSQL database. Interrupted, it has moved nothing or everything, and may run
 * again. @throws DatabaseUnusable
 */
export const moveToPostgres = async (url: string, options: StoppedOptions, progress: MoveProgress) => {
  const { importPostgres, migratePostgres } = await postgresCommands()
  await migratePostgres(url, postgresMigrations)
  const { moveElsewhere } = await import('./move.ts')
  return await moveElsewhere(
    options,
    async (source) => await importPostgres(url, postgresMigrations, source, { ...options, progress }),
  )
}
