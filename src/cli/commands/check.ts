import type { Command } from 'commander'
import { checkFile } from '../../../db/check-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { readConfig } from '../../config.ts'
import { CommandFailed } from '../command-failed.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answer } from '../output.ts'

export const addCheckCommand = (program: Command): void => {
  operatorCommand(program, 'check', 'Check that the database is whole, private and of this version.')
    .addHelpText(
      'after',
      '\nReads every page and every artifact. When something is wrong it says what on stderr, one sentence per line, and' +
        '\nexits 1; with --json that is the same and stdout stays empty. When nothing is wrong --json prints' +
        '\n{"ok":true,"problems":[]}.',
    )
    .action(check)
}

const check = (flags: CommonFlags): void => {
  const { databasePath } = readConfig({ database: flags.database })
  const problems = checkFile(databasePath, migrations)
  if (problems.length > 0) throw new CommandFailed(problems)
  answer(flags, { ok: true, problems }, `Nothing is wrong with ${databasePath}.`)
}
