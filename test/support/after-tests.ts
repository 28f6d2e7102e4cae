import { afterAll } from 'bun:test'
import { killServers } from './running-server.ts'
import { removeTemporaryFolders } from './temporary-folder.ts'

// A test that failed half-way must leave neither a server nor a file behind; a test runner does not always get to its exit
// handlers.
afterAll(() => {
  killServers()
  removeTemporaryFolders()
})
