import { Command, type CommandOptions, type OptionValueSource } from 'commander'
import { existsSync } from 'node:fs'
import { endTemporaries } from '../../db/sqlite/temporary.ts'
import type { StoppedOptions } from '../../db/stopped.ts'
import { ConfigError, type DatabasePlace, defaultDatabasePath, readDatabasePlace } from '../config.ts'
import { actAsOwnerOfFolder } from '../runtime/identity.ts'
import { endBy, Interrupted, interruptible } from './developer/developer-command.ts'
import type { OperatorSession } from './operator-session.ts'
import { type Answer, answer, UsageError } from './output.ts'
import { serviceDatabase } from './print/deployment.ts'
import { remotePlaceOf } from './remote-commands.ts'

/** What opens a database: loaded by the commands that do, because it is most of the program. */
const sessions = async () => await import('./operator-session.ts')

/** The flags of every operator command. */
export type CommonFlags = { readonly database?: string; readonly json?: boolean }

/** The flags of a command that runs over the network as well. */
type AnywhereFlags = CommonFlags & { readonly url?: string; readonly insecureHttp?: boolean }

/** A server that runs one command for a service key. */
export type Served = {
  readonly session: OperatorSession
  /** What is wrong with the store of the server, in plain sentences. Reads all of it. */
  readonly checkStore: () => Promise<readonly string[]>
  readonly answered: (flags: CommonFlags, answer: Answer) => void
}

/** Makes the commands of which one is called `only`, for these words, and for a server that runs them. */
export type CreateProgram = (
  only?: string,
  words?: readonly string[],
  served?: Served | null,
  write?: ((name: 'stdout' | 'stderr', text: string) => void) | null,
) => Promise<Command>

/** A command that takes one value per flag, but for lists: of two the last one would count, without a word about the first. */
class PlainCommand extends Command {
  override createCommand(name?: string): Command {
    return new PlainCommand(name)
  }

  /** A variable of a script that is empty, and not quoted, leaves the flag without its value: the next flag would become that. */
  override parseOptions(words: string[]): { operands: string[]; unknown: string[] } {
    const end = words.indexOf('--')
    const isFlag = (word: string | undefined) =>
      this.options.some(({ long, short }) => word !== undefined && [long, short].includes(word.split('=')[0]))
    for (const [at, word] of words.slice(0, end === -1 ? words.length : end).entries()) {
      const next = words[at + 1]
      if (this.options.find(({ long }) => long === word)?.required === true && isFlag(next))
        this.error(
          `error: ${word} has no value before ${next}: give it one, or write ${word}=${next} if that is its value.`,
        )
    }
    return super.parseOptions(words)
  }

  override setOptionValueWithSource(key: string, value: unknown, source: OptionValueSource | undefined): this {
    const { long: flag = key } = this.options.find((option) => option.attributeName() === key) ?? {}
    const isRepeated = source === 'cli' && this.getOptionValueSource(key) === 'cli'
    if (isRepeated && !Array.isArray(value) && this.getOptionValue(key) !== value) {
      this.error(`error: ${flag} is given twice: give it once.`)
    }
    return super.setOptionValueWithSource(key, value, source)
  }
}

/** The root of all commands. It has the words that were called, and on a server whom they are run for. */
export class ProgramRoot extends PlainCommand {
  constructor(
    readonly words: readonly string[],
    readonly served: Served | null,
    readonly create: CreateProgram,
  ) {
    super('app-platform')
  }
}

/** Its root, if it has one, and its name there, such as `app member add`. */
export const placed = (command: Command): { readonly root: ProgramRoot | null; readonly name: string } => {
  const names: string[] = []
  let at: Command | null = command
  for (; at !== null && !(at instanceof ProgramRoot); at = at.parent) names.unshift(at.name())
  return { root: at, name: names.join(' ') }
}

/**
 * Adds a command that works on the database, with the common flags. `usage` is its name and arguments. The caller
 * sets the action. `fileOf` gives the file that the command works on instead of the database, by the arguments; then nothing
 * matters but this file, whatever the settings say and whatever is installed on the machine.
 */
export const databaseCommand = (
  parent: Command,
  usage: string,
  description: string,
  { fileOf, ...options }: CommandOptions & { readonly fileOf?: (words: readonly string[]) => string | undefined } = {},
): Command => {
  const command = parent.command(usage, options).description(description)
  const { root, name } = placed(command)
  const isRemote = remotePlaceOf(name) !== null
  command.option('--json', 'print exactly one JSON value on stdout')
  if (root?.served != null) return command // it works on the store of the server, and names neither files nor other servers
  if (isRemote) {
    command
      .option('--url <origin>', 'run it on this server, with the service key in APP_PLATFORM_SERVICE_KEY')
      .option('--insecure-http', 'let the key travel over plain HTTP to another machine')
  }
  return (
    command
      .option(
        '--database <file>',
        'the database file or a postgres:// URL (DATABASE_URL, default file:./data/app-platform.db)',
      )
      // Before anything is opened: files created by root could not be opened by the server, which is another user.
      .hook('preAction', (_, { args }) => {
        if (isRemote && command.getOptionValue('url') !== undefined) return undefined
        const file = fileOf?.(args)
        if (file !== undefined) return actAsOwnerOfFolder(file)
        const place = placeIfReadable(command.opts())
        if (place?.kind !== 'sqlite') return undefined
        assertNotTheService(place.path)
        return actAsOwnerOfFolder(place.path)
      })
  )
}

/** Otherwise a command in another folder than the service's would say that there is nothing, or restore into a new database. */
const assertNotTheService = (path: string): void => {
  if (path !== defaultDatabasePath || existsSync(path) || !existsSync(serviceDatabase)) return
  throw new UsageError(
    `There is no database at ${path}, but the service here has ${serviceDatabase}: run export DATABASE_URL=file:${serviceDatabase} first.`,
  )
}

/** What a command does with its arguments and flags: on this machine, and on a server for a service key. */
type Anywhere<Words extends readonly unknown[]> = {
  readonly here: (flags: CommonFlags, ...words: Words) => Promise<Answer>
  readonly served: (served: Served, ...words: Words) => Promise<Answer>
}

/** The action of a command of `databaseCommand`: it runs where it was called, or on the server that --url names, and prints its answer. */
export const actAnywhere = <Words extends readonly unknown[]>(
  command: Command,
  { here, served }: Anywhere<Words>,
): Command =>
  command.action(async function (this: Command, ...words: Words) {
    const flags = this.opts<AnywhereFlags>()
    const { root, name } = placed(this)
    const isRemote = remotePlaceOf(name) !== null
    if (root?.served != null) {
      if (!isRemote) throw new UsageError('This command runs only on the machine of the server.')
      return root.served.answered(flags, await served(root.served, ...words))
    }
    if (!isRemote || root === null || flags.url === undefined) return answer(flags, await here(flags, ...words))
    if (flags.database !== undefined) throw new UsageError('Give --url or --database, not both.')
    const { runOnServer } = await import('./run-on-server.ts') // most commands run here
    await runOnServer(this, root.words, flags.url, { ...flags, isChange: remotePlaceOf(name) !== 'reads' })
  })

/** Adds commands that open the platform, run the work with the arguments and flags, and print its answer. */
export const operatorCommands =
  (parent: Command) =>
  <Words extends readonly unknown[]>(
    usage: string,
    description: string,
    work: (session: OperatorSession, ...words: Words) => Promise<Answer>,
  ): Command =>
    actAnywhere<Words>(databaseCommand(parent, usage, description), {
      here: async (flags, ...words) =>
        await (await sessions()).asOperator(flags, async (session) => await work(session, ...words)),
      served: async ({ session }, ...words) => await work(session, ...words),
    })

/** Adds a command that works on a database which no server uses, and prints the answer of the work. */
export const stoppedCommand = <Words extends readonly unknown[]>(
  parent: Command,
  usage: string,
  description: string,
  work: (stopped: StoppedOptions, ...words: Words) => Promise<Answer>,
): Command =>
  databaseCommand(parent, usage, description).action(async function (this: Command, ...words: Words) {
    const flags = this.opts<CommonFlags>()
    const file = databasePathOf(flags)
    await leavingNoCopies(async () =>
      answer(flags, await work({ file, ...(await sessions()).stoppedMoment() }, ...words)),
    )
  })

/**
 * Runs work that copies a database. A signal takes the copies away before it ends the program; one that comes while SQLite copies waits
 * for that.
 */
export const leavingNoCopies = async <T>(work: () => Promise<T>): Promise<T> =>
  await interruptible(async (signal) => {
    signal.addEventListener('abort', () => {
      endTemporaries()
      if (signal.reason instanceof Interrupted) void endBy(signal.reason)
    })
    return await work()
  })

/** The name of a database in answers. The URL of a PostgreSQL database may have a password. */
export const nameOfPlace = (place: DatabasePlace): string =>
  place.kind === 'sqlite' ? place.path : 'the PostgreSQL database'

/** @throws ConfigError */
export const databaseOf = ({ database }: CommonFlags): DatabasePlace => readDatabasePlace({ database })

/** Null if the setting is wrong: the command itself names it, together with all others that it uses. */
const placeIfReadable = (flags: CommonFlags): DatabasePlace | null => {
  try {
    return databaseOf(flags)
  } catch (error) {
    if (error instanceof ConfigError) return null
    throw error
  }
}

/** The database file, for a command that works on the file itself. @throws ConfigError, and UsageError for PostgreSQL */
export const databasePathOf = (flags: CommonFlags): string => {
  const place = databaseOf(flags)
  if (place.kind === 'sqlite') return place.path
  throw new UsageError(onlyForFiles)
}

const onlyForFiles =
  'This command is for SQLite files; PostgreSQL is restored by pg_restore or to a point in time, as app-platform help postgresql shows.'
