import { afterAll } from 'bun:test'
import { killServers } from './running-server.ts'

// A test that failed half-way must leave no server behind; a test runner does not always get to its exit handlers.
afterAll(killServers)
