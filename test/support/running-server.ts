import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseOf, onPostgres } from './postgres.ts'
import { programCommand, servesHere } from './program.ts'
import { temporaryFolder } from './temporary-folder.ts'

const running = new Set<Bun.Subprocess>()
const here = new Set<RunningServer>()

/** Stops every server that still runs. */
export const killServers = (): void => {
  for (const process of running) process.kill('SIGKILL')
  running.clear()
}
process.once('exit', killServers)

/** Also stops those in this process. */
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
  /** The whole log so far. */
  log(): string
  /** The whole output so far. */
  output(): string
  /** Resolves with the exit code, also if the server exits without a signal. */
  readonly ended: Promise<number>
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number>
  /** Sends SIGKILL. */
  kill(): Promise<void>
}

export type ServerOptions = {
  /** A file of an earlier run; a new one by default. */
  readonly database?: string
  readonly env?: Readonly<Record<string, string>>
  /** A free one by default. */
  readonly port?: number
  /** Another program that starts it and runs as long, such as strace. */
  readonly under?: readonly string[]
  /** Replaces the program under test, such as by an earlier build. */
  readonly program?: readonly string[]
  /** For tests that kill the server or inspect its process. */
  readonly ownProcess?: boolean
}

/**
 * `bun test` runs the server in this process, `bun run test` in its own. Rate limits, the limit of waiting requests and the quota
 * of versions are off unless the given environment says otherwise: most tests are not about them, and must pass on a busy machine.
 */
export const startServer = async (options: ServerOptions = {}): Promise<RunningServer> => {
  const database = await databaseOf(options.database ?? join(temporaryFolder(), 'app-platform.db'))
  const env = { RATE_LIMIT: 'off', LONGEST_WAIT_MS: 'off', QUOTA_VERSIONS: '1000000', ...options.env }
  if (servesHere && !needsOwnProcess(options)) {
    const { startServerHere } = await import('./server-here.ts') // imported here, because it loads the whole program
    const server = await startServerHere(database, env)
    here.add(server)
    void server.ended.then(() => here.delete(server))
    return server
  }
  if (!onPostgres && options.database === undefined && options.program === undefined) {
    const { emptyDatabase } = await import('./operator.ts')
    await emptyDatabase(database) // or each server would make one by all migrations, a quarter of the time of its start
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
      const [line = '', ...rest] = output.split('\n')
      if (rest.length > 0 && line.includes('"url"')) listening.resolve(line) // else it is the reason why it did not start
    }
    await logged
    listening.reject(new Error(`The server did not start: ${log}`))
  })()
  const url = await listening.promise
  // Killing a tracer would not kill the traced process.
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

/** The process may have exited already. */
const signal = (pid: number, name: 'SIGTERM' | 'SIGKILL'): void => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
