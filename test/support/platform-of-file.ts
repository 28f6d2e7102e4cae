import { afterAll } from 'bun:test'
import { join } from 'node:path'
import type { Platform } from '../../src/operations/platform.ts'
import { openAsOperator } from './operator.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** One platform without a server for all tests of the calling file, on a new database. It is closed after the last of them. */
export const platformOfFile = async (file = join(temporaryFolder(), 'app-platform.db')): Promise<Platform> => {
  const platform = await openAsOperator(file)
  afterAll(async () => await platform.database.close())
  return platform
}
