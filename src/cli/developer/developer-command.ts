import type { Command } from 'commander'
import type { Repeat } from '../../client/index.ts'
import { printable } from '../output.ts'

/** What every command of an app developer takes. */
export type DeveloperFlags = {
  readonly url?: string
  readonly insecureHttp?: boolean
  readonly json?: boolean
}

/** A command on a server somewhere, with the flags that all of them have. `usage` is its name and its arguments. */
export const developerCommand = (parent: Command, usage: string, description: string): Command =>
  parent
    .command(usage)
    .description(description)
    .option('--url <origin>', 'the server (APP_PLATFORM_URL; by default the one that you are logged in to)')
    .option('--insecure-http', 'let the secret travel over plain HTTP to another machine')
    .option('--json', 'print exactly one JSON value on stdout')

/** Where the credentials come from, for the help of every command that needs them. */
export const credentialsHelp = `
Credentials come from APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET, then from what login kept. There is no
flag for them: other users of a machine can read command lines.`

/** Tells a person why nothing happens for a while; a pipeline's log is told, too. */
export const tellOfWaiting = ({ error, waitMs }: Repeat): void => {
  if (waitMs < 1000) return
  process.stderr.write(`${printable(error.message)} Trying again in ${Math.ceil(waitMs / 1000)} s.\n`)
}

type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The person at the terminal, or who runs the machine, wants it to end. */
export class Interrupted extends Error {
  constructor(readonly by: EndingSignal) {
    super('The command was interrupted.')
  }
}

/**
 * Runs work that tidies up after itself when the program is told to end: the terminal is as it was. After that the
 * program ends by the very signal, so that a shell knows what happened.
 */
export const interruptible = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const interruption = new AbortController()
  const stops = endingSignals.map((by) => ({ by, stop: () => interruption.abort(new Interrupted(by)) }))
  for (const { by, stop } of stops) process.once(by, stop)
  try {
    await work(interruption.signal)
  } finally {
    for (const { by, stop } of stops) process.off(by, stop)
  }
}

/** Ends this program by the signal that it was interrupted by. */
export const endBy = async ({ by }: Interrupted): Promise<never> => {
  process.kill(process.pid, by)
  return await new Promise<never>(() => setInterval(() => undefined, 1000)) // until the signal arrives
}
