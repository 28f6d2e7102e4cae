import { join, resolve } from 'node:path'
import { buildProgram } from '../../../src/build.ts'
import { lastingFolder } from '../../support/temporary-folder.ts'

let built: Promise<{ readonly file: string }> | null = null

/** The binary: the one that APP_PLATFORM_PROGRAM names, that of `test/run.ts`, or else one built here; both are of the sources as they are. */
export const builtProgram = async (): Promise<string> => {
  const named = process.env['APP_PLATFORM_PROGRAM'] ?? process.env['TEST_PROGRAM']
  if (named !== undefined) return resolve(named)
  built ??= buildProgram(join(lastingFolder(), 'app-platform'))
  return (await built).file
}
