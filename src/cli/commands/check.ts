import type { Command } from 'commander'
import { checkFile } from '../../../db/check-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { readConfig } from '../../config.ts'
import { CommandFailed } from '../command-failed.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answer } from '../output.ts'
import { withReadableBackup } from '../readable-backup.ts'

export const addCheckCommand = (program: Command): void => {
  operatorCommand(
    program,
    'check [file]',
    'Check that the database, or a backup, is whole, private and of this version.',
  )
    .addHelpText(
      'after',
      '\nWithout a file it checks the database (--database). A file is a backup: what only stands beside a database is not missed.' +
        '\nReads every page and every artifact. When something is wrong it says what on stderr, one sentence per line, and' +
        '\nexits 1; with --json that is the same and stdout stays empty. When nothing is wrong --json prints' +
        '\n{"ok":true,"problems":[]}.',
    )
    .action(check)
}

const check = async (backup: string | undefined, flags: CommonFlags): Promise<void> => {
  const { databasePath } = readConfig({ database: flags.database })
  const [path, problems] =
    backup === undefined
      ? [databasePath, checkFile(databasePath, migrations, 'database')]
      : [backup, await withReadableBackup(backup, databasePath, async (file) => checkFile(file, migrations, 'backup'))]
  if (problems.length > 0) throw new CommandFailed(problems)
  answer(flags, { ok: true, problems }, `Nothing is wrong with ${path}.`)
}
