import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

/** The core of the server and the core of the load, if the machine has two and `taskset`. */
export const cores = { server: 0, load: 1 } as const

const taskset = availableParallelism() > 1 ? Bun.which('taskset') : null
export const isPinned = taskset !== null
export const pinned = (core: number, command: readonly string[]): string[] =>
  taskset === null ? [...command] : [taskset, '-c', String(core), ...command]

/**
 * Gives this session priority, as far as the system allows: with autogroups, `nice` has no effect between
 * sessions (sched(7)).
 */
export const favourSession = (): void => {
  try {
    writeFileSync('/proc/self/autogroup', '-20')
  } catch {
    // Not Linux, not root, or no autogroups.
  }
}

const running = new Set<Bun.Subprocess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export type ServingProcess = {
  readonly port: number
  readonly pid: number
  residentBytes(): number
  /** Processor time of all its threads until now; Linux only. */
  processorSeconds(): number
  stop(): Promise<void>
}

export type StartOptions = {
  readonly command: readonly string[]
  /** The file that standard error goes to. */
  readonly log: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program that prints `{"url":…}` once it listens. */
export const startServing = async ({ command, log, env = {} }: StartOptions): Promise<ServingProcess> => {
  const child = Bun.spawn(pinned(cores.server, command), {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: openSync(log, 'a', 0o600),
  })
  running.add(child)
  const line = await firstLine(child.stdout)
  if (line === '') throw new Error(`${command.join(' ')} did not start: ${await Bun.file(log).text()}`)
  return {
    port: Number(new URL(JSON.parse(line).url).port),
    pid: child.pid,
    residentBytes: () => residentBytesOf(child.pid),
    processorSeconds: () => processorSecondsOf(child.pid),
    stop: async () => {
      child.kill('SIGTERM')
      const code = await child.exited
      running.delete(child)
      if (code !== 0 && code !== 143) throw new Error(`${command.join(' ')} ended with ${code}.`)
    },
  }
}

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) break
  }
  return text.slice(0, Math.max(0, text.indexOf('\n')))
}

/** Linux only; elsewhere NaN. */
export const residentBytesOf = (pid: number): number => {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return Number.NaN
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1] ?? Number.NaN) * 1024
}

/** User and system time, fields 14 and 15 of proc(5), in ticks of 10 ms; the name before them may hold spaces. */
export const processorSecondsOf = (pid: number): number => {
  const stat = `/proc/${pid}/stat`
  if (!existsSync(stat)) return Number.NaN
  const text = readFileSync(stat, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const program = join(import.meta.dir, '../../src/main.ts')
/** The command that runs the program of a source tree. */
export const programIn = (root: string): readonly string[] => [process.execPath, join(root, 'src/main.ts')]
const plenty = '1000000/1'
const limits = {
  RATE_LIMIT_TOKEN: plenty,
  RATE_LIMIT_READ: plenty,
  RATE_LIMIT_WRITE: plenty,
  RATE_LIMIT_ADDRESS: plenty,
} as const

/** Starts the server as users run it. The limits are on and count every call, but are too high to be reached. */
export const startPlatform = async (
  folder: string,
  database: string,
  env: Readonly<Record<string, string>> = {},
  runnable: readonly string[] = [process.execPath, program],
): Promise<ServingProcess> =>
  await startServing({
    command: [...runnable, 'serve', '--json', '--port', '0', '--database', database],
    log: join(folder, 'server.log'),
    env: { ...limits, ...env },
  })

export const startRaw = async (folder: string, answers: string): Promise<ServingProcess> =>
  await startServing({
    command: [process.execPath, join(import.meta.dir, 'raw-server.ts'), answers],
    log: join(folder, 'raw.log'),
  })
