import { afterAll, afterEach, setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'
import { closeBrowsers } from '../pages/support/browser.ts'
import { stopChromium } from '../pages/support/chromium.ts'
import { tellSkipped } from './needs.ts'
import { endServers } from './running-server.ts'
import { removeTemporaryFolders } from './temporary-folder.ts'

/**
 * For a busy machine. What is set here counts for the first file only, where files share one process: so each file sets it
 * for itself, in front of its first line.
 */
const timeoutMs = Number(process.env['TEST_TIMEOUT_MS'] ?? 60_000)
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

// A test that failed half-way must leave neither a server, a browser nor a file behind; a test runner does not always get to its exit
// handlers.
// A page that went wrong while nobody looked fails the test that opened it.
afterEach(closeBrowsers)

afterAll(async () => {
  await stopChromium()
  await endServers()
  removeTemporaryFolders()
  tellSkipped()
})
