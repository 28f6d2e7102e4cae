import { expect, spyOn } from 'bun:test'
import { AsyncLocalStorage } from 'node:async_hooks'
import { runProgram } from '../../../src/cli/program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { every } from './every-command.ts'
import type { Run } from './run.ts'

type Output = { stdout: string; stderr: string }
type Commands = readonly (readonly [name: string, words: readonly string[]])[]

const running = new AsyncLocalStorage<Output>()

const once = async (words: readonly string[]): Promise<Run> => {
  const output: Output = { stdout: '', stderr: '' }
  const exitCode = await running.run(output, async () => await runProgram(words))
  return { exitCode, ...output }
}

/** What a command says whose PostgreSQL was too slow, as it may be on a busy machine. */
const tooSlow = /does not answer in time/

/**
 * Runs commands on one database in this process, so many at a time: most of them wait for PostgreSQL. What each prints is kept apart by
 * its asynchronous context. One that found PostgreSQL too slow is repeated, unless it is slow on purpose.
 */
export const runTogether = async (
  url: string,
  { commands = every, atOnce = 12, isSlow = false }: { commands?: Commands; atOnce?: number; isSlow?: boolean } = {},
): Promise<ReadonlyMap<string, Run>> => {
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    spyOn(process[name], 'write').mockImplementation((chunk: string | Uint8Array) => {
      const output = running.getStore()
      if (output !== undefined) output[name] += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)
      return true
    }),
  )
  const input = spyOn(Bun.stdin, 'stream').mockImplementation(() => new Blob(['a long enough password\n']).stream())
  const kept = { env: { ...process.env }, mask: process.umask(0o077), folder: process.cwd() }
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, { PATH: kept.env['PATH'], DATABASE_URL: url })
  process.chdir(temporaryFolder())
  const limits = [process.stdout, process.stderr].map((stream) => [stream, stream.getMaxListeners()] as const)
  for (const [stream] of limits) stream.setMaxListeners(0)
  const ended = new Map<string, Run>()
  const waiting = [...commands]
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, words] = next
      let run = await once(words)
      for (let left = isSlow ? 0 : 5; left > 0 && tooSlow.test(run.stderr); left -= 1) run = await once(words)
      ended.set(name, run)
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, worker))
    return ended
  } finally {
    process.exitCode = 0
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, kept.env)
    process.chdir(kept.folder)
    process.umask(kept.mask)
    for (const [stream, limit] of limits) {
      stream.removeAllListeners('error')
      stream.setMaxListeners(limit)
    }
    for (const spy of [...spies, input]) spy.mockRestore()
  }
}

/** Each command that did not end with this one sentence, and how it did. */
export const othersThan = (sentence: string, ended: ReadonlyMap<string, Run>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...ended]
      .filter(([, { exitCode, stdout, stderr }]) => `${exitCode} ${stdout}${stderr}` !== `1 error: ${sentence}\n`)
      .map(([name, { exitCode, stdout, stderr }]) => [
        name,
        exitCode === 0 ? 'done' : `${exitCode} ${stdout}${stderr}`,
      ]),
  )

/** What becomes of all commands whose database takes no changes: those that are done, and those that were refused for another reason. */
export const besideThe = (sentence: string, ended: Awaited<ReturnType<typeof runTogether>>) => {
  // A backup copies what is there, and may then say the sentence and where the copy is, because it could not be recorded.
  const others = Object.entries(othersThan(sentence, ended)).filter(([name]) => name !== 'backup')
  const told = ended.size - others.length
  const refused = others.filter(([, how]) => how !== 'done')
  // Of their arguments: a command line that lacks something, or names what is not there.
  for (const [name, how] of refused)
    expect({ name, how }).toEqual({
      name,
      how: expect.stringMatching(/^[12] error: (?!The command failed|The service cannot|PostgreSQL)[^\n]+\n$/),
    })
  return { told, done: others.filter(([, how]) => how === 'done').map(([name]) => name) }
}

/** What only reads, of what is there. A check makes what it compares in a transaction that it undoes. */
export const ofWorld = [
  'user export',
  'user sessions',
  'user show',
  'app show',
  'app members',
  'credential list',
  'endpoint list',
  'redirect list',
  'review list',
]
/** What lists everything: also on a full disk. */
export const lists = [
  'migrate',
  'user list',
  'app list',
  'install list',
  'scope list',
  'service-key list',
  'audit list',
]
