import type { Command } from 'commander'
import { checkBackup, checkDatabase, migrateDatabase } from '../../../db/engine.ts'
import { removePredecessors } from '../../../db/sqlite/place.ts'
import { bytesInWords } from '../../domain/text.ts'
import { purgeAll } from '../../operations/purge/purge.ts'
import {
  actAnywhere,
  type CommonFlags,
  databaseCommand,
  databasePathOf,
  nameOfPlace,
  databaseOf,
  leavingNoCopies,
} from '../operator-command.ts'
import { asOperator, type OperatorSession } from '../operator-session.ts'
import { type Answer, answer, CommandFailed, recordAnswer, UsageError } from '../output.ts'
import { withReadableBackup } from '../readable-backup.ts'

export const addMigrateCommand = (program: Command): void => {
  databaseCommand(
    program,
    'migrate',
    'Create the database, or bring its schema up to date. serve does this when it starts.',
  ).action(migrate)
}

const migrate = async (flags: CommonFlags): Promise<void> => {
  const place = databaseOf(flags)
  const applied = await migrateDatabase(place)
  // It leaves the audit event. If it cannot, such as for a wrong setting, the next opening does.
  if (applied.length > 0) await asOperator(flags, async () => undefined).catch(() => undefined)
  const database = nameOfPlace(place)
  const text = applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`
  answer(flags, { value: { database, applied }, text })
}

export const addCheckCommand = (program: Command): void => {
  const command = databaseCommand(
    program,
    'check [file]',
    'Check that the database, or a backup, is intact, private and of this version.',
    { fileOf: ([file]) => file },
  ).addHelpText(
    'after',
    '\nWithout a file it checks the database (--database). A file is a backup: files that exist only beside a database may be missing.' +
      '\nIt is checked by itself: no setting and no database is needed for that.' +
      '\nReads every page and every artifact. When something is wrong it says what on stderr, one sentence per line, and' +
      '\nexits 1. When nothing is wrong --json prints {"ok":true,"problems":[]}.',
  )
  actAnywhere<[backup: string | undefined]>(command, {
    here: async (flags, backup) => {
      if (backup === undefined) {
        const place = databaseOf(flags)
        return verdict(nameOfPlace(place), await checkDatabase(place))
      }
      const check = async () => await withReadableBackup(backup, () => backup, checkBackup)
      const { problems, isOlder } = await leavingNoCopies(check)
      return verdict(backup, problems, isOlder)
    },
    served: async ({ checkStore }, backup) => {
      if (backup !== undefined) throw new UsageError('A file is checked on the machine that has it, without --url.')
      return verdict('the database of the server', await checkStore())
    },
  })
}

/** @throws CommandFailed with the problems, if there are any */
const verdict = (name: string, problems: readonly string[], isOlder = false): Answer => {
  if (problems.length > 0) throw new CommandFailed(problems)
  const older = isOlder ? ' It was made by an earlier version of this program: restore migrates it.' : ''
  return { value: { ok: true, problems }, text: `Nothing is wrong with ${name}.${older}` }
}

/** The pause between batches, so that a running server can write. */
const pauseMs = 5

export const addPurgeCommand = (program: Command): void => {
  const command = databaseCommand(
    program,
    'purge',
    'Remove what has expired. A running server does this once a minute.',
  )
  actAnywhere<[flags: PurgeFlags]>(command, {
    here: async (flags, { predecessors }) =>
      predecessors === true ? removedPredecessors(flags) : await asOperator(flags, purge),
    served: async ({ session }, { predecessors }) => {
      if (predecessors === true) throw new UsageError('Files are removed on the machine that has them, without --url.')
      return await purge(session)
    },
  }).option('--predecessors', 'remove instead the databases that restore has set aside in this folder (.before-…)')
}

type PurgeFlags = { readonly predecessors?: boolean }

const removedPredecessors = (flags: CommonFlags): Answer => {
  const removed = removePredecessors(databasePathOf(flags))
  const lines = removed.map(({ path, bytes }) => `Removed ${path} (${bytesInWords(bytes)}).`)
  return { value: { removed }, text: lines.length === 0 ? 'There is none.' : lines.join('\n') }
}

const purge = async ([platform, trace]: OperatorSession) => {
  let interrupted = false
  const interrupt = () => void (interrupted = true)
  process.once('SIGINT', interrupt)
  const removed = await purgeAll(
    platform,
    trace,
    async () => await Bun.sleep(pauseMs),
    () => interrupted,
  ).finally(() => process.off('SIGINT', interrupt))
  return recordAnswer(Object.fromEntries(Object.entries(removed).map(([kind, rows]) => [camelCase(kind), rows])))
}

/** `appTokens` for `app_tokens`. */
const camelCase = (name: string): string => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
