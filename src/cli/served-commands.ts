import { CommanderError } from 'commander'
import { statusOf, PlatformError, refuse } from '../domain/errors.ts'
import type { RunCommand } from '../http/door.ts'
import { beginCommand, refuseCommand } from '../operations/service-keys/run-command.ts'
import { asksForJson, explain, usageFault } from './explain.ts'
import type { CreateProgram, Served } from './operator-command.ts'
import { answerLines, CommandFailed, failureLine, UsageError, warningLines } from './output.ts'
import { commandIn } from './remote-commands.ts'

/** Commands at once. Each of them, or one that is repeated in a second, costs more than a call of the API. */
const mostAtOnce = 4

/** The longest answer, in characters. */
const longestAnswer = 4 * 1024 * 1024

const tooLong =
  'The answer is longer than 4 MiB: ask for less, such as with --limit or for one app, or run the command on the machine of the server.'

/** What keeps the spared from being named by a command. */
const sparedBy = { reads: 'nobody', changes: 'operators', 'hands over': 'operators and their apps' } as const

type RunnerParts = Pick<Served, 'checkStore'> & { readonly create: CreateProgram }

/**
 * Runs commands of operators for service keys, with the same output and exit code as on the machine of the server. Of the command line
 * only the table of `remote-commands.ts` decides what may run; the command then finds no flag for files, databases and servers.
 */
export const commandRunner = ({ create, checkStore }: RunnerParts): RunCommand => {
  let running = 0
  return async (session, words, width) => {
    const [platform, trace, actor] = session
    const { name, place, arguments: given } = commandIn(words) ?? { name: null, place: null, arguments: [] }
    if (place === null) return await refuseCommand(platform, trace, actor, name)
    if (running >= mostAtOnce) throw refuse('rate_limited', { retryAfterSeconds: 1 })
    running += 1
    try {
      const values = new Set(given.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]))
      const begun = { name, values: [...values], sparing: sparedBy[place] }
      const spared = await beginCommand(platform, trace, actor, begun)
      return await runCaptured(create, words, width, { session: [spared, trace, actor], checkStore })
    } finally {
      running -= 1
    }
  }
}

const runCaptured = async (
  create: CreateProgram,
  words: readonly string[],
  width: number | null,
  parts: Omit<Served, 'answered'>,
) => {
  const output: { exitCode: 0 | 1 | 2; stdout: string; stderr: string } = { exitCode: 0, stdout: '', stderr: '' }
  const say = (name: 'stdout' | 'stderr', text: string) => {
    if (output[name].length + text.length > longestAnswer) throw new CommandFailed([tooLong])
    output[name] += text
  }
  const served: Served = {
    ...parts,
    answered: (flags, answer) => {
      say('stdout', answerLines(flags, answer, width))
      say('stderr', warningLines(answer.warnings ?? []))
    },
  }
  try {
    const program = await create(words[0], words, served, say)
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return output
    if (!isForTheCaller(error)) throw error
    const isUsage = error instanceof CommanderError // which has said it already
    const { exitCode, sentences, code } = isUsage ? usageFault(error) : explain(error)
    const { requestId } = parts.session[1]
    const told = isUsage ? sentences : [...sentences.slice(0, -1), `${sentences.at(-1)} Request ID: ${requestId}`]
    if (!isUsage) output.stderr += told.map((sentence) => `error: ${sentence}\n`).join('')
    if (asksForJson(words))
      output.stdout = failureLine({ code, sentences: told, requestId: isUsage ? null : requestId })
    output.exitCode = exitCode
  }
  return output
}

/** What the command itself says. Everything else is an answer of the server: that it failed, or that the key has ended. */
const isForTheCaller = (error: unknown): boolean =>
  error instanceof CommanderError ||
  error instanceof UsageError ||
  error instanceof CommandFailed ||
  (error instanceof PlatformError && ![401, 429, 500, 503].includes(statusOf(error.code)))
