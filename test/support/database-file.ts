import { backupFile } from '../../db/backup.ts'
import { checkFile } from '../../db/check.ts'
import { migrations } from '../../db/migrations/index.ts'

/** The faults that `check` finds in a database, which may be in use. */
export const faultsIn = (file: string): readonly string[] => checkFile(file, migrations)

/** Backs up a database, which may be in use. */
export const backUp = (file: string, to: string): void => backupFile({ file, to, replace: false, migrations })
