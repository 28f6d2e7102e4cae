import type { Command } from 'commander'
import { wireRecord } from '../../domain/timestamp.ts'
import { moveToPostgres, planMoveOfPostgres } from '../../../db/engine.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { isPostgresUrl } from '../../../db/postgres/address.ts'
import { moveSqlite } from '../../../db/move.ts'
import type { StoppedOptions } from '../../../db/stopped.ts'
import { readDatabasePlace } from '../../config.ts'
import { type CommonFlags, databaseCommand, databaseOf, databasePathOf, leavingNoCopies } from '../operator-command.ts'
import { operatorMoment } from '../operator-session.ts'
import { type Answer, answer, UsageError } from '../output.ts'
import { type ProgressBar, startProgressBar } from '../progress-bar.ts'

const steps = `
To move to another machine, where every token, session and grant goes on:
  1. Stop the server here.
  2. app-platform move --to PATH
     marks the database as moved and writes a sealed copy. No server or command uses the database here any more. When it
     was interrupted, or the copy was lost, run it again: it writes the same copy.
  3. Bring the copy to the other machine, privately: it holds everything.
  4. There: app-platform restore --move PATH, where no database is yet. Then start the server.
To move into PostgreSQL: stop the server, put the URL of an empty PostgreSQL database into DATABASE_URL, then
app-platform move --database FILE. With --to, other users of the machine could see the password.
To move a PostgreSQL database by a dump: stop all servers, run app-platform move --prepare, make the dump, and restore it
elsewhere. The first start there accepts it, and ends nothing. A server that starts here before withdraws that.
Use the copy once: two servers on two copies would each accept tokens that the other has ended.`

export const addMoveCommand = (program: Command): void => {
  databaseCommand(program, 'move', 'Mark the database as moved, and write a sealed copy for another machine.')
    .action(async (flags: CommonFlags & MoveFlags) =>
      answer(flags, await leavingNoCopies(async () => await move(flags))),
    )
    .option(
      '--to <path>',
      'where to write the sealed copy; or the URL of an empty PostgreSQL database (default: DATABASE_URL, if it is one)',
    )
    .option('--prepare', 'of a PostgreSQL database: let the next start accept a dump of it elsewhere')
    .addHelpText('after', steps)
}

/** The total is known once the database is open. */
const progressOfRows = () => {
  let bar: ProgressBar | null = null
  return {
    advance: (rows: number, total: number, table: string): void => {
      bar ??= startProgressBar(total)
      bar.say(table)
      bar.advance(rows)
    },
    end: () => bar?.end(),
  }
}

/** The PostgreSQL database of the environment, which only the operator can see. */
const targetInEnvironment = (): string => {
  const database = readDatabasePlace({})
  if (database.kind === 'postgres') return database.url
  throw new UsageError(
    'Name the place: --to PATH for a sealed copy, or DATABASE_URL with the URL of a PostgreSQL database, and --database FILE.',
  )
}

type MoveFlags = { readonly to?: string; readonly prepare?: boolean }

const move = async (flags: CommonFlags & MoveFlags): Promise<Answer> => {
  if (flags.prepare === true) return await prepareMove(flags)
  return await moveFile({ file: databasePathOf(flags), migrations, ...operatorMoment() }, flags)
}

const prepareMove = async (flags: CommonFlags & MoveFlags): Promise<Answer> => {
  const place = databaseOf(flags)
  if (flags.to !== undefined) throw new UsageError('Give --to or --prepare: --prepare is for a dump of PostgreSQL.')
  if (place.kind === 'sqlite')
    throw new UsageError('--prepare is for PostgreSQL; move an SQLite database with --to PATH.')
  const { at: plannedAt } = await planMoveOfPostgres(place.url, operatorMoment())
  const text =
    'Make the dump now, and restore it elsewhere: the first start there accepts it, and ends nothing. Start no server here before that.'
  return { value: wireRecord({ plannedAt }), text }
}

const moveFile = async (stopped: StoppedOptions, { to = targetInEnvironment() }: MoveFlags): Promise<Answer> => {
  if (isPostgresUrl(to)) {
    const bar = progressOfRows()
    const { database, movedAt } = await moveToPostgres(to, stopped, bar.advance).finally(bar.end)
    const text = `${database} has moved into the PostgreSQL database and is not used here any more. Start the server with the URL of that database in DATABASE_URL.`
    return { value: { ...wireRecord({ movedAt }), database }, text }
  }
  const { database, file, movedAt } = await moveSqlite({ ...stopped, to })
  const text =
    `${database} has moved and is not used here any more. Bring ${file} to the other machine, and there run ` +
    'app-platform restore --move FILE.'
  return { value: { ...wireRecord({ movedAt }), database, file }, text }
}
