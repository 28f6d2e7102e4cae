import { DatabaseUnusable, type WriteEvent } from '../database.ts'
import { postgresFaultAt } from '../faults/postgres.ts'
import type { MoveSource } from '../move.ts'
import { parseAddress } from './address.ts'
import { assertServer, findTableFaults } from './check.ts'
import { importInto, type MoveProgress } from './import.ts'
import { databaseNow } from './dialect.ts'
import type { Link } from './link.ts'
import { assertOrigin, planMove, recoverTables, resetTables } from './recover.ts'
import { Primary } from './primary.ts'
import { assertCurrent, assertLockable, assertNothingMissing, migrateSchema, type PostgresMigration } from './schema.ts'

type Migrations = readonly PostgresMigration[]
type Moment = { readonly now: number; readonly event: WriteEvent }

/** How long a server may take to answer the questions at the beginning, which are short. */
const longestCheckMs = 15_000

type PrepareOptions = {
  /** `server`: a node, which does not migrate while others run. */
  readonly role: 'server' | 'operator'
  readonly migrate: boolean
  readonly migrations: Migrations
  /** For the command that goes on with a database which lacks acknowledged changes. */
  readonly isRecovery?: boolean
}

/**
 * Checks the server and its tables, and brings them up to date if asked to.
 * @throws DatabaseUnusable with a sentence for the operator
 */
export const prepare = async (primary: Primary, { role, migrate, migrations, isRecovery = false }: PrepareOptions) =>
  await inSentences(primary, async () => {
    const { link } = await primary.connect()
    try {
      await link.within(longestCheckMs, async () => await assertServer(link, primary))
      const applied = migrate ? await migrateSchema(link, migrations, { alone: role === 'server' }) : []
      return await link.within(longestCheckMs, async () => {
        await assertCurrent(link, migrations)
        await assertLockable(link)
        if (!isRecovery) {
          await assertNothingMissing(link)
          await assertOrigin(link, role)
        }
        const text = `SELECT pg_database_size(current_database()), ${databaseNow}`
        const [[bytes, now] = []] = (await link.send(text, [])).rows
        return { applied, databaseBytes: Number(bytes), databaseTime: Number(now), measuredAt: performance.now() }
      })
    } finally {
      link.close()
    }
  })

/** @throws DatabaseUnusable for what a failed connection means */
export const inSentences = async <T>(primary: Primary, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw postgresFaultAt(error, primary) ?? error
  }
}

/** Brings the schema up to date; gives the names of the steps that were applied. @throws DatabaseUnusable */
export const migratePostgres = async (url: string, migrations: readonly PostgresMigration[]) =>
  (await prepare(new Primary(parseAddress(url)), { role: 'operator', migrate: true, migrations })).applied

/** Everything that is wrong with the database, in plain sentences, also if it cannot be opened for use. */
export const checkPostgres = async (url: string, migrations: readonly PostgresMigration[]) => {
  try {
    const primary = new Primary(parseAddress(url))
    await prepare(primary, { role: 'operator', migrate: false, migrations })
    return await inSentences(primary, async () => {
      const { link } = await primary.connect()
      return await findTableFaults(link, migrations).finally(() => link.close())
    })
  } catch (error) {
    if (error instanceof DatabaseUnusable) return [error.message]
    throw error
  }
}

/** As `recoverSqlite`, on a database that no server uses. @throws DatabaseUnusable */
export const recoverPostgres = async (url: string, migrations: Migrations, moment: Moment) =>
  await alone(url, { migrations, isRecovery: true }, async (link) => await recoverTables(link, moment))

/** As `resetClock`, on a database that no server uses, back to the clock of PostgreSQL. @throws DatabaseUnusable */
export const resetPostgresClock = async (url: string, migrations: Migrations, moment: Moment) =>
  await alone(url, { migrations }, async (link) => await resetTables(link, moment))

/** Notes that the database moves elsewhere by a dump, on one that no server uses. @throws DatabaseUnusable */
export const planPostgresMove = async (url: string, migrations: Migrations, moment: Moment) =>
  await alone(url, { migrations }, async (link) => await planMove(link, moment))

/** Copies an SQLite database that moves into an empty database. @throws DatabaseUnusable */
export const importPostgres = async (
  url: string,
  migrations: Migrations,
  source: MoveSource,
  options: Moment & { readonly progress: MoveProgress },
) => await alone(url, { migrations }, async (link) => await importInto(link, source, options))

const alone = async <T>(
  url: string,
  options: Pick<PrepareOptions, 'migrations' | 'isRecovery'>,
  work: (link: Link) => Promise<T>,
): Promise<T> => {
  const primary = new Primary(parseAddress(url))
  await prepare(primary, { ...options, role: 'operator', migrate: true })
  return await inSentences(primary, async () => {
    const { link } = await primary.connect({ idle_in_transaction_session_timeout: '0' }) // it reads a file in between
    return await work(link).finally(() => link.close())
  })
}
