import { existsSync } from 'node:fs'
import { createProgram } from '../../src/cli/program.ts'
import { readConfig } from '../../src/config.ts'
import { startPlatformServer } from '../../src/server.ts'
import { emptyDatabase } from './operator.ts'
import { onPostgres } from './postgres.ts'
import type { RunningServer } from './running-server.ts'

/** Runs the server in the process of the tests. It starts in a tenth of the time and can be debugged. */
export const startServerHere = async (
  database: string,
  env: Readonly<Record<string, string>>,
): Promise<RunningServer> => {
  if (!onPostgres && !existsSync(database)) await emptyDatabase(database)
  let log = ''
  const server = await startPlatformServer(readConfig({ port: '0', database }, env), {
    logWriter: { write: (line) => void (log += line), flush: () => undefined },
    createCommands: createProgram,
    passwordCost: 4, // the least that bcrypt takes
  })
  const ended = Promise.withResolvers<number>()
  let stopping = false
  const stop = async (): Promise<number> => {
    if (!stopping) {
      stopping = true
      ended.resolve((await server.stop()) ? 0 : 1)
    }
    return await ended.promise
  }
  return {
    url: server.url,
    database,
    pid: process.pid,
    log: () => log,
    output: () => `${JSON.stringify({ url: server.url })}\n`,
    ended: ended.promise,
    stop,
    kill: async () => {
      throw new Error('To kill the server, start it in a process of its own: startServer({ ownProcess: true }).')
    },
  }
}
