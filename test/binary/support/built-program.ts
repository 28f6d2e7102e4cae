import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildProgram } from '../../../src/build.ts'
import { lastingFolder } from '../../support/temporary-folder.ts'

let built: Promise<string> | null = null

/** Of the processes of `test/run.ts` the first one that needs it builds it, and the others wait. */
const build = async (): Promise<string> => {
  const shared = process.env['TEST_FOLDER']
  const folder = shared === undefined ? lastingFolder() : join(shared, 'binary')
  const [file, mark] = [join(folder, 'app-platform'), join(folder, 'ended')]
  if (shared !== undefined && mkdirSync(folder, { recursive: true }) === undefined) {
    while (!existsSync(mark)) await Bun.sleep(50)
    return file
  }
  try {
    return (await buildProgram(file)).file
  } finally {
    writeFileSync(mark, '')
  }
}

/** The binary: the one that APP_PLATFORM_PROGRAM names, or else one built here from the sources as they are. */
export const builtProgram = async (): Promise<string> => {
  const named = process.env['APP_PLATFORM_PROGRAM']
  if (named !== undefined) return resolve(named)
  return await (built ??= build())
}
