import { afterAll, beforeAll, describe, test } from 'bun:test'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { platform } from './platform.ts'
import { proven, type Runner, startRunner, stopRunner } from './rounds.ts'
import { requestsOf, titles, workNames } from './work.ts'

/** Only the benchmark installs the peers. This tests that its requests are still valid. */
describe('the platform answers the requests of the comparison with peers:', () => {
  let runner: Runner
  let codes: readonly string[]

  beforeAll(async () => {
    runner = await startRunner(platform('no executable'), temporaryFolder(), 10, null)
    codes = await runner.prepared.codes(1)
  })

  afterAll(async () => await stopRunner(runner))

  test.each(workNames.map((work) => ({ work, title: titles[work] })))('$title', async ({ work }) => {
    const { contender, prepared, server } = runner
    await proven(work, server, requestsOf(work, contender, prepared.material, codes)[0])
  })
})
