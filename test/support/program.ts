import { join, resolve } from 'node:path'

const built = process.env['APP_PLATFORM_PROGRAM']

/**
 * How the program under test is started: from source, or the binary that APP_PLATFORM_PROGRAM names, so that the same
 * tests hold for both.
 */
export const programCommand: readonly string[] =
  built === undefined ? [process.execPath, join(import.meta.dir, '../../src/main.ts')] : [resolve(built)]
