import type { Command } from 'commander'
import { AppPlatformError, type Repeat, type PlatformClient, type Version } from '../../client/index.ts'
import { printable } from '../output.ts'

/** The flags of every developer command. */
export type DeveloperFlags = {
  readonly url?: string
  readonly insecureHttp?: boolean
  readonly json?: boolean
}

/** Adds a command that talks to a server, with the common flags, and may be interrupted. `usage` is its name and arguments. */
export const developerCommand = <Words extends readonly unknown[]>(
  parent: Command,
  usage: string,
  description: string,
  work: (signal: AbortSignal, ...words: Words) => Promise<void>,
): Command =>
  parent
    .command(usage)
    .description(description)
    .option('--url <origin>', 'the server (APP_PLATFORM_URL; by default the one that you are signed in to)')
    .option('--insecure-http', 'let the secret travel over plain HTTP to another machine')
    .option('--json', 'print exactly one JSON value on stdout')
    .action(async (...words: Words) => await interruptible(async (signal) => await work(signal, ...words)))

/** Where the credentials come from, for the help of every command that needs them. */
export const credentialsHelp = `
Credentials come from APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET, then from app-platform login. There is no
flag for them: other users of a machine can read command lines.`

/** Says why the command waits, also in a pipeline's log. */
export const tellOfWaiting = ({ error, waitMs }: Repeat): void => {
  if (waitMs < 1000) return
  process.stderr.write(`${printable(error.message)} Trying again in ${Math.ceil(waitMs / 1000)} s.\n`)
}

/** Nobody knows whether a change was made. The message says how to find out, and how to make it safely. */
export class OutcomeUnknown extends Error {
  constructor(
    message: string,
    override readonly cause: AppPlatformError,
  ) {
    super(message)
  }
}

/** Makes a change. `doubt` is what to say if its outcome is not known, also when a signal ends the waiting. */
export const changing = async <T>(signal: AbortSignal, doubt: string, change: () => Promise<T>): Promise<T> => {
  try {
    return await change()
  } catch (error) {
    if (signal.aborted) process.stderr.write(`${printable(doubt)}\n`)
    throw error instanceof AppPlatformError && error.mayBeDone ? new OutcomeUnknown(doubt, error) : error
  }
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal asked the program to end. */
export class Interrupted extends Error {
  constructor(readonly by: (typeof endingSignals)[number]) {
    super('The command was interrupted.')
  }
}

/**
 * Runs work that cleans up when the program is asked to end, for example restores the terminal. The program then ends by
 * the same signal, so that the shell knows why.
 */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const interruption = new AbortController()
  const stops = endingSignals.map((by) => ({ by, stop: () => interruption.abort(new Interrupted(by)) }))
  for (const { by, stop } of stops) process.once(by, stop)
  try {
    return await work(interruption.signal)
  } finally {
    for (const { by, stop } of stops) process.off(by, stop)
  }
}

/** Ends this program by the signal that interrupted it. */
export const endBy = async ({ by }: Interrupted): Promise<never> => {
  process.kill(process.pid, by)
  return await new Promise<never>(() => setInterval(() => undefined, 1000)) // until the signal arrives
}

/** The current versions; null if there is none. */
export type Standing = { readonly development: Version | null; readonly production: Version | null }

/** @throws AppPlatformError */
export const readStanding = async (client: PlatformClient, signal: AbortSignal): Promise<Standing> => {
  const { current } = await client.versions.list({ limit: 1 }, { signal })
  const wanted = new Set([current.development, current.production].filter((id) => id !== null))
  const found = new Map<string | null, Version>()
  if (wanted.size > 0) {
    for await (const version of client.versions.all({}, { signal })) {
      if (wanted.has(version.id)) found.set(version.id, version)
      if (found.size === wanted.size) break
    }
  }
  return { development: found.get(current.development) ?? null, production: found.get(current.production) ?? null }
}

/** `The development head is 1.4.0. Users see 1.3.0.` */
export const standingText = ({ development, production }: Standing): string => {
  const head =
    development === null ? 'There is no development head.' : `The development head is ${development.version}.`
  const live = production === null ? 'Users see no version yet.' : `Users see ${production.version}.`
  return `${head} ${live}`
}
