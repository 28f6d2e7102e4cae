import { join, resolve } from 'node:path'

const built = process.env['APP_PLATFORM_PROGRAM']

/**
 * How the program under test is started: from source, or the binary that APP_PLATFORM_PROGRAM names, so that the same
 * tests hold for both.
 */
export const programCommand: readonly string[] =
  built === undefined ? [process.execPath, join(import.meta.dir, '../../src/main.ts')] : [resolve(built)]

/** Whether servers run in the process of the tests, which the inner suite does. */
export const servesHere = built === undefined && process.env['TEST_SUITE'] !== 'all'
