import { backupFile } from '../../db/backup.ts'
import { checkDatabase } from '../../db/engine.ts'
import { migrations } from '../../db/migrations/index.ts'
import { readConfig } from '../../src/config.ts'
import { databaseOf } from './postgres.ts'

/** What `check` finds wrong with a database, which may be in use. */
export const faultsIn = async (database: string): Promise<readonly string[]> =>
  await checkDatabase(readConfig({ database: await databaseOf(database) }, {}).database)

/** Backs up a database, which may be in use. */
export const backUp = (file: string, to: string): void => backupFile({ file, to, replace: false, migrations })
