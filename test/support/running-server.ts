import { join } from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

const program = join(import.meta.dir, '../../src/main.ts')
const running = new Set<Bun.Subprocess>()
process.once('exit', () => {
  for (const process of running) process.kill('SIGKILL')
})

/** The real program in a process of its own, on a real file, listening on a free port. */
export type RunningServer = {
  readonly url: string
  readonly database: string
  readonly pid: number
  /** Everything it has logged so far. */
  log(): string
  /** SIGTERM, and the exit code. */
  stop(): Promise<number>
  /** SIGKILL: no chance to tidy up. */
  kill(): Promise<void>
}

export type ServerOptions = {
  /** A file of an earlier run; a fresh one by default. */
  readonly database?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Limits are off unless the environment given here says otherwise: most rules are not about them. */
export const startServer = async (options: ServerOptions = {}): Promise<RunningServer> => {
  const database = options.database ?? join(temporaryFolder(), 'app-platform.db')
  const child = Bun.spawn([process.execPath, program, 'serve', '--json', '--port', '0', '--database', database], {
    env: { PATH: process.env['PATH'] ?? '', RATE_LIMIT: 'off', ...options.env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.add(child)
  let log = ''
  const logged = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true })
  })()
  const url = await firstLine(child.stdout).catch(async () => {
    await logged
    throw new Error(`The server did not start: ${log}`)
  })
  const ended = async () => {
    const code = await child.exited
    running.delete(child)
    await logged
    return code
  }
  return {
    url: JSON.parse(url).url,
    database,
    pid: child.pid,
    log: () => log,
    stop: async () => {
      child.kill('SIGTERM')
      return await ended()
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended()
    },
  }
}

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error('ended before its first line')
    text += decoder.decode(value, { stream: true })
  }
  reader.releaseLock()
  return text.slice(0, text.indexOf('\n'))
}
