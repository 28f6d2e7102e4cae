import { afterAll, beforeAll, describe, test } from 'bun:test'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { platform } from './platform.ts'
import { proven, type Runner, startRunner, stopRunner } from './rounds.ts'
import { requestsOf, titles, workNames } from './work.ts'

/** The peers themselves are installed by the benchmark alone; here only that its requests are still good ones. */
describe('what the peers are compared by is answered by the platform', () => {
  let runner: Runner
  let codes: readonly string[]

  beforeAll(async () => {
    runner = await startRunner(platform('no executable'), temporaryFolder(), 10)
    codes = await runner.prepared.codes(1)
  })

  afterAll(async () => await stopRunner(runner))

  test.each(workNames.map((work) => ({ work, title: titles[work] })))('$title', async ({ work }) => {
    const { contender, prepared, server } = runner
    await proven(work, server, requestsOf(work, contender, prepared.material, codes)[0])
  })
})
