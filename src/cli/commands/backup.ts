import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { backupFile } from '../../../db/backup-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { readConfig } from '../../config.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answer } from '../output.ts'

type BackupFlags = CommonFlags & { readonly force?: boolean }

export const addBackupCommand = (program: Command): void => {
  operatorCommand(
    program,
    'backup <file>',
    'Copy the database into one private file, beside a running server or without one.',
  )
    .option('--force', 'replace the file if it exists')
    .action(backup)
}

const backup = (to: string, flags: BackupFlags): void => {
  const { databasePath: file } = readConfig({ database: flags.database })
  backupFile({ file, to, replace: flags.force === true, migrations })
  const { size: sizeBytes, mtimeMs } = statSync(to)
  const createdAt = new Date(mtimeMs).toISOString()
  answer(flags, { file: to, sizeBytes, createdAt }, `Backed up to ${to} (${sizeBytes.toLocaleString('en')} bytes).`)
}
