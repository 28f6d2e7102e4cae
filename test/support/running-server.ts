import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { programCommand, servesHere } from './program.ts'
import { temporaryFolder } from './temporary-folder.ts'

const running = new Set<Bun.Subprocess>()
const here = new Set<RunningServer>()

/** Ends every server that is still there. */
export const killServers = (): void => {
  for (const process of running) process.kill('SIGKILL')
  running.clear()
}
process.once('exit', killServers)

/** Ends those in this process, too. */
export const endServers = async (): Promise<void> => {
  killServers()
  await Promise.all([...here].map(async (server) => await server.stop()))
  here.clear()
}

/** A server on a real file, listening on a free port. */
export type RunningServer = {
  readonly url: string
  readonly database: string
  readonly pid: number
  /** Everything it has logged so far. */
  log(): string
  /** Everything it has printed so far. */
  output(): string
  /** Resolves with the exit code, also when it ends by itself. */
  readonly ended: Promise<number>
  /** SIGTERM, and the exit code. */
  stop(): Promise<number>
  /** SIGKILL: no chance to tidy up. */
  kill(): Promise<void>
}

export type ServerOptions = {
  /** A file of an earlier run; a fresh one by default. */
  readonly database?: string
  readonly env?: Readonly<Record<string, string>>
  /** A free one by default. */
  readonly port?: number
  /** Another program that starts it and lives as long, such as strace. */
  readonly under?: readonly string[]
  /** Instead of the program under test, such as the same one built before. */
  readonly program?: readonly string[]
  /** For tests that kill it, or look at its process. */
  readonly ownProcess?: boolean
}

/**
 * Plain `bun test` runs it in this process, `bun run test` in a process of its own, as people do. Limits are off, and nobody
 * is turned away for having waited, unless the environment given here says otherwise: most rules are not about either,
 * and must hold on a machine that is busy.
 */
export const startServer = async (options: ServerOptions = {}): Promise<RunningServer> => {
  const database = options.database ?? join(temporaryFolder(), 'app-platform.db')
  const env = { RATE_LIMIT: 'off', LONGEST_WAIT_MS: 'off', ...options.env }
  if (servesHere && !needsOwnProcess(options)) {
    const { startServerHere } = await import('./server-here.ts') // here, for it brings the whole program
    const server = await startServerHere(database, env)
    here.add(server)
    void server.ended.then(() => here.delete(server))
    return server
  }
  const under = options.under ?? []
  const program = options.program ?? programCommand
  const child = Bun.spawn(
    [...under, ...program, 'serve', '--json', '--port', String(options.port ?? 0), '--database', database],
    {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  running.add(child)
  let log = ''
  const logged = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true })
  })()
  let output = ''
  const listening = Promise.withResolvers<string>()
  const printed = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      output += decoder.decode(chunk, { stream: true })
      if (output.includes('\n')) listening.resolve(output.slice(0, output.indexOf('\n')))
    }
    await logged
    listening.reject(new Error(`The server did not start: ${log}`))
  })()
  const url = await listening.promise
  // Killing a tracer would set its process free.
  const pid = under.length === 0 ? child.pid : childOf(child.pid)
  const end = async () => {
    const code = await child.exited
    running.delete(child)
    await Promise.all([logged, printed])
    return code
  }
  const ended = end()
  return {
    url: JSON.parse(url).url,
    database,
    pid,
    log: () => log,
    output: () => output,
    ended,
    stop: async () => {
      signal(pid, 'SIGTERM')
      return await ended
    },
    kill: async () => {
      signal(pid, 'SIGKILL')
      await ended
    },
  }
}

/** Bun reads `NODE_EXTRA_CA_CERTS` once, when a process starts. */
const needsOwnProcess = ({ ownProcess = false, port, under, program, env = {} }: ServerOptions): boolean =>
  ownProcess || port !== undefined || under !== undefined || program !== undefined || 'NODE_EXTRA_CA_CERTS' in env

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])

/** It may have ended by itself. */
const signal = (pid: number, name: 'SIGTERM' | 'SIGKILL'): void => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
