import { afterAll, afterEach } from 'bun:test'
import { closeBrowsers } from '../pages/support/browser.ts'
import { stopChromium } from '../pages/support/chromium.ts'
import { killServers } from './running-server.ts'
import { removeTemporaryFolders } from './temporary-folder.ts'

// A test that failed half-way must leave neither a server, a browser nor a file behind; a test runner does not always get to its exit
// handlers.
// A page that went wrong while nobody looked fails the test that opened it.
afterEach(closeBrowsers)

afterAll(async () => {
  await stopChromium()
  killServers()
  removeTemporaryFolders()
})
