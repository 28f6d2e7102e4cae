import { join, resolve } from 'node:path'

const named = process.env['APP_PLATFORM_PROGRAM']
const program = named ?? process.env['TEST_PROGRAM']

/**
 * The command that starts the program under test: the executable file in APP_PLATFORM_PROGRAM, or the one that `test/run.ts` has built of
 * the source as it is, or else the source.
 */
export const programCommand: readonly string[] =
  program === undefined ? [process.execPath, join(import.meta.dir, '../../src/main.ts')] : [resolve(program)]

/** Whether the program under test is a given executable file, which also runs what else is done in the process of the tests. */
export const isBuilt = named !== undefined

/** Whether servers run in the process of the tests, as in the inner suite. */
export const servesHere = !isBuilt && process.env['TEST_SUITE'] !== 'all'
