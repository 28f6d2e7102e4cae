import type { Command } from 'commander'
import { migrateFile } from '../../../db/migrate-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { readConfig } from '../../config.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answer } from '../output.ts'

export const addMigrateCommand = (program: Command): void => {
  operatorCommand(
    program,
    'migrate',
    'Create the database, or bring its schema up to date. serve does so by itself.',
  ).action(migrate)
}

const migrate = async (flags: CommonFlags): Promise<void> => {
  const { databasePath } = readConfig({ database: flags.database })
  const applied = await migrateFile(databasePath, migrations)
  const text = applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`
  answer(flags, { database: databasePath, applied }, text)
}
