import { join, resolve } from 'node:path'
import { buildProgram } from '../../../src/build.ts'
import { lastingFolder } from '../../support/temporary-folder.ts'

let built: Promise<string> | null = null

const build = async (): Promise<string> => (await buildProgram(join(lastingFolder(), 'app-platform'))).file

/** The binary: the one that APP_PLATFORM_PROGRAM names, or else one built here from the sources as they are. */
export const builtProgram = async (): Promise<string> => {
  const named = process.env['APP_PLATFORM_PROGRAM']
  if (named !== undefined) return resolve(named)
  return await (built ??= build())
}
