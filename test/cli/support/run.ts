import { spyOn } from 'bun:test'
import { join } from 'node:path'
import { runProgram } from '../../../src/cli/program.ts'
import type { Json } from '../../support/call.ts'
import { databaseOf, onPostgres } from '../../support/postgres.ts'
import { isBuilt, programCommand } from '../../support/program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** The exit code and the output of a finished program. */
export type Run = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

export type RunOptions = {
  readonly stdin?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Runs the real program in its own process, with only PATH from this environment. */
export const run = async (words: readonly string[], { stdin = '', env = {}, cwd }: RunOptions = {}): Promise<Run> => {
  const child = Bun.spawn([...programCommand, ...words], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdin: Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    ...(cwd === undefined ? {} : { cwd }),
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, stdout, stderr }
}

/** Lets one command at a time run in this process, since they share its environment and output. */
let lastHere: Promise<unknown> = Promise.resolve()

/** Variables that Bun reads when a process starts. */
const isReadOnce = (name: string): boolean => name.startsWith('NODE_')

/**
 * Runs the command line in this process, which takes a tenth of the time of a process of its own. For commands that end by
 * themselves and do not care about signals, terminals and users.
 */
export const runHere = async (words: readonly string[], options: RunOptions = {}): Promise<Run> => {
  if (isBuilt || Object.keys(options.env ?? {}).some(isReadOnce)) return await run(words, options)
  const ran = lastHere.then(async () => await runInProcess(words, options))
  lastHere = ran.catch(() => {})
  return await ran
}

const setEnv = (to: Readonly<Record<string, string | undefined>>): void => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, to)
}

const runInProcess = async (words: readonly string[], { stdin = '', env = {}, cwd }: RunOptions): Promise<Run> => {
  const output = { stdout: '', stderr: '' }
  const kept = { env: { ...process.env }, mask: process.umask(0o077), folder: process.cwd() }
  const capture = (name: 'stdout' | 'stderr') =>
    spyOn(process[name], 'write').mockImplementation((chunk: string | Uint8Array) => {
      output[name] += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)
      return true
    })
  const spies = [
    capture('stdout'),
    capture('stderr'),
    spyOn(Bun.stdin, 'stream').mockReturnValue(new Blob([stdin]).stream()),
  ]
  try {
    setEnv({ PATH: kept.env['PATH'], ...env })
    if (cwd !== undefined) process.chdir(cwd)
    const code = await runProgram(words)
    return { exitCode: code, ...output }
  } finally {
    process.exitCode = 0
    setEnv(kept.env)
    process.chdir(kept.folder)
    process.umask(kept.mask)
    process.stdout.removeAllListeners('error')
    for (const spy of spies) spy.mockRestore()
  }
}

/** The code of a failed command with --json. Throws unless it printed its error, and people read the same on stderr. */
export const failureIn = ({ stdout, stderr }: Omit<Run, 'exitCode'>): string => {
  const { error, ...others }: Json = JSON.parse(stdout)
  const { code, message, requestId, ...more } = error
  if (Object.keys({ ...others, ...more }).length > 0) throw new Error(`more than an error: ${stdout}`)
  const told = stderr.split('\n').flatMap((line) => (line.startsWith('error: ') ? [line.slice('error: '.length)] : []))
  if (!stdout.endsWith('\n') || (message !== told.join(' ') && code !== 'usage'))
    throw new Error(`${stdout} is not ${stderr}`)
  if (requestId !== undefined && !message.includes(requestId)) throw new Error(`another request: ${stdout}`)
  return code
}

/** An operator at one database. */
export type Desk = {
  readonly folder: string
  /** The database file; on PostgreSQL only the name of the database, for `databaseOf`. */
  readonly file: string
  run(words: readonly string[], options?: RunOptions): Promise<Run>
  /** Runs with --json and returns the value. Throws unless it exits 0 with one value and an empty stderr. */
  json(words: readonly string[], options?: RunOptions): Promise<Json>
}

/** DATABASE_URL of a desk. */
export const urlOfDesk = async (file: string): Promise<string> => (onPostgres ? await databaseOf(file) : `file:${file}`)

export const deskAt = (file: string, runner = runHere): Desk => {
  const at = async (words: readonly string[], options: RunOptions = {}) =>
    await runner(words, { ...options, env: { DATABASE_URL: await urlOfDesk(file), ...options.env } })
  return {
    folder: join(file, '..'),
    file,
    run: at,
    json: async (words, options) => {
      const { exitCode, stdout, stderr } = await at([...words, '--json'], options)
      if (exitCode !== 0 || stderr !== '') throw new Error(`${words.join(' ')} exited ${exitCode}: ${stderr}`)
      if (!stdout.endsWith('\n') || stdout.indexOf('\n') !== stdout.length - 1)
        throw new Error(`not one line: ${stdout}`)
      return JSON.parse(stdout)
    },
  }
}

/** An empty, migrated database in a private folder. */
export const openDesk = async (runner = runHere): Promise<Desk> => {
  const desk = deskAt(join(temporaryFolder(), 'app-platform.db'), runner)
  await desk.json(['migrate'])
  return desk
}

export const password = 'correct horse battery'

export const addUser = async (desk: Desk, email = 'ada@example.com'): Promise<Json> =>
  await desk.json(['user', 'create', '--email', email, '--name', 'Ada Example', '--password-stdin'], {
    stdin: password,
  })

export const addApp = async (desk: Desk, slug = 'newsletter', scopes = 'profile:read site:read'): Promise<Json> =>
  await desk.json([
    'app',
    'create',
    '--owner',
    'ada@example.com',
    '--name',
    'Newsletter',
    '--slug',
    slug,
    '--scopes',
    scopes,
  ])

export const addCredential = async (desk: Desk, slug = 'newsletter', environment = 'development'): Promise<Json> =>
  await desk.json(['credential', 'create', slug, '--environment', environment])

/** Imports resources given as objects, through standard input. */
export const importLines = async (desk: Desk, records: readonly unknown[]): Promise<Json> =>
  await desk.json(['resource', 'import', '-'], { stdin: records.map((record) => JSON.stringify(record)).join('\n') })

export const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
