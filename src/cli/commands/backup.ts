import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { asOperator } from '../open-platform.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answer } from '../output.ts'

type BackupFlags = CommonFlags & { readonly force?: boolean }

export const addBackupCommand = (program: Command): void => {
  operatorCommand(program, 'backup <file>', 'Copy the database into one private file, beside a running server or without one.')
    .option('--force', 'replace the file if it exists')
    .action(backup)
}

const backup = async (file: string, flags: BackupFlags): Promise<void> => {
  const createdAt = await asOperator(flags, async ({ platform }) => {
    const now = platform.clock.now()
    await platform.database.backup(file, { replace: flags.force === true })
    return now
  })
  const sizeBytes = statSync(file).size
  const at = new Date(createdAt).toISOString()
  answer(flags, { file, sizeBytes, createdAt: at }, `Backed up to ${file} (${sizeBytes.toLocaleString('en')} bytes).`)
}
