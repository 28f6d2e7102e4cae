import { join, resolve } from 'node:path'

const built = process.env['APP_PLATFORM_PROGRAM']

/**
 * The command that starts the program under test: the binary in APP_PLATFORM_PROGRAM, so that the same tests run against both,
 * or the source, which `test/run.ts` has put together in one folder, because it starts in a third of the time then.
 */
export const programCommand: readonly string[] =
  built === undefined
    ? [process.execPath, process.env['TEST_PROGRAM'] ?? join(import.meta.dir, '../../src/main.ts')]
    : [resolve(built)]

/** Whether the program under test is the executable file. */
export const isBuilt = built !== undefined

/** Whether servers run in the process of the tests, as in the inner suite. */
export const servesHere = !isBuilt && process.env['TEST_SUITE'] !== 'all'
