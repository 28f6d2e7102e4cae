import { afterAll, afterEach, setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'
import { closeBrowsers } from '../pages/support/browser.ts'
import { stopChromium } from '../pages/support/chromium.ts'
import { tellSkipped } from './needs.ts'
import { endPostgres, endWithoutPostgres } from './postgres.ts'
import { endServers } from './running-server.ts'
import { removeTemporaryFolders } from './temporary-folder.ts'

endWithoutPostgres()

/**
 * Longer timeouts for a busy machine. If files share one process, a setting here would hold for the first file only, so
 * each file gets it before its first line.
 */
const timeoutMs = Number(process.env['TEST_TIMEOUT_MS'] ?? 300_000)
setDefaultTimeout(timeoutMs)
plugin({
  name: 'patience',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      contents: `(await import('bun:test')).setDefaultTimeout(${timeoutMs});${await Bun.file(path).text()}`,
      loader: 'ts',
    }))
  },
})

// A failed test must leave no server, browser or file behind, and the exit handlers of a test runner do not always run.
// An error in a page fails the test that opened the page.
afterEach(closeBrowsers)

afterAll(async () => {
  await stopChromium()
  await endServers()
  removeTemporaryFolders()
  await endPostgres()
  tellSkipped()
})
