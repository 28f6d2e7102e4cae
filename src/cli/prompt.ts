import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { textOfFile } from '../domain/text.ts'
import { Interrupted } from './developer/developer-command.ts'
import { CommandFailed, UsageError } from './output.ts'

type Question = { readonly text: string; readonly hidden?: boolean }

/** Whether a person can see a question and type an answer. */
export const hasTerminal = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/**
 * Asks questions one by one on standard error; standard output is for the answer alone. Hidden input is never shown,
 * even if it was pasted before its question.
 * @throws Interrupted on Ctrl-C, CommandFailed on Ctrl-D, the signal's reason if it is aborted
 */
export const askAll = async (questions: readonly Question[], signal: AbortSignal): Promise<readonly string[]> => {
  signal.throwIfAborted()
  const answers: string[] = []
  const isHidden = () => questions[answers.length]?.hidden === true
  const output = new Writable({
    write: (chunk, _, done) => {
      if (!isHidden()) process.stderr.write(chunk)
      done()
    },
  })
  const terminal = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const ask = () => {
    const question = questions[answers.length]
    if (question === undefined) resolve()
    else process.stderr.write(question.text)
  }
  const aborted = () => reject(signal.reason)
  signal.addEventListener('abort', aborted)
  terminal.on('line', (line) => {
    if (isHidden()) process.stderr.write('\n')
    if (answers.length < questions.length) answers.push(line.trim())
    ask()
  })
  terminal.on('SIGINT', () => reject(new Interrupted('SIGINT')))
  terminal.on('close', () => reject(new CommandFailed(['Nothing was entered, and nothing was changed.'])))
  ask()
  try {
    await promise
    return answers
  } catch (error) {
    process.stderr.write('\n')
    throw error
  } finally {
    signal.removeEventListener('abort', aborted)
    terminal.close() // restores the terminal
  }
}

/** More than any valid password, so that a wrong file is not read to its end. */
const mostBytes = 1024

/** The password on standard input, without the line end that `echo` adds and the byte order mark of a file, which nobody can type. */
export const readPassword = async (): Promise<string> => {
  if (process.stdin.isTTY) {
    throw new UsageError('--password-stdin needs a pipe or a file: a terminal would show the password.')
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of Bun.stdin.stream()) {
    chunks.push(chunk)
    length += chunk.length
    if (length > mostBytes) break
  }
  const text = textOfFile(Buffer.concat(chunks))
  if (text === null) throw new CommandFailed(['The password is not UTF-8.'])
  return text.replace(/\r?\n$/, '')
}
