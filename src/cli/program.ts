import { type Command, CommanderError } from 'commander'
import { sqliteVersion } from '../../db/sqlite/connection.ts'
import { misleading } from '../domain/text.ts'
import { hasCode } from '../domain/error-code.ts'
import { program as running } from '../runtime/program.ts'
import { endBy, Interrupted } from './developer/developer-command.ts'
import { asksForJson, explain, usageFault, withoutValues } from './explain.ts'
import { type CreateProgram, ProgramRoot } from './operator-command.ts'
import { failureLine, UsageError } from './output.ts'

const notes = `
Every command takes --help. Operator commands work on the database itself, whether a server is running or not.
With --json they print one JSON value, on failure {"error":{"code","message"}}. They exit 0 when done, 1 when refused or failed, 2 when called wrongly.

Settings come from flags, then from the environment; app-platform help settings describes all of them:
  DATABASE_URL    --database     file:./data/app-platform.db, or a postgres:// URL
  PORT, HOST      --port --host  3000, 127.0.0.1
  PUBLIC_URL      --public-url   http://localhost:<port>
  TRUSTED_PROXIES                addresses and networks whose X-Forwarded-For counts

Commands for app developers need no database but a server (--url, APP_PLATFORM_URL) and the development credentials of
an app: from login, or from APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET, as in a pipeline.

Commands whose help lists --url also run on a server, with a service key: app-platform help remote-commands tells more.`

type Add = (program: Command) => void

/** Every command, by its name. Its module is loaded when it is needed, so that a command does not wait for what others need. */
const groups: readonly { readonly title: string; readonly commands: Readonly<Record<string, () => Promise<Add>>> }[] = [
  {
    title: 'Server:',
    commands: {
      serve: async () => (await import('./commands/serve.ts')).addServeCommand,
      dev: async () => (await import('./commands/dev.ts')).addDevCommand,
      health: async () => (await import('./commands/health.ts')).addHealthCommand,
      print: async () => (await import('./commands/print.ts')).addPrintCommands,
      completion: async () => (await import('./commands/completion.ts')).addCompletionCommand,
    },
  },
  {
    title: 'Database:',
    commands: {
      migrate: async () => (await import('./commands/database.ts')).addMigrateCommand,
      check: async () => (await import('./commands/database.ts')).addCheckCommand,
      backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
      restore: async () => (await import('./commands/restore.ts')).addRestoreCommand,
      recover: async () => (await import('./commands/recover.ts')).addRecoverCommand,
      move: async () => (await import('./commands/move.ts')).addMoveCommand,
      clock: async () => (await import('./commands/recover.ts')).addClockCommands,
      purge: async () => (await import('./commands/database.ts')).addPurgeCommand,
      seed: async () => (await import('./commands/seed.ts')).addSeedCommand,
    },
  },
  {
    title: 'People, apps and what they have:',
    commands: {
      user: async () => (await import('./commands/user.ts')).addUserCommands,
      app: async () => (await import('./commands/app.ts')).addAppCommands,
      credential: async () => (await import('./commands/credential.ts')).addCredentialCommands,
      redirect: async () => (await import('./commands/redirect.ts')).addRedirectCommands,
      install: async () => (await import('./commands/install.ts')).addInstallCommands,
      resource: async () => (await import('./commands/resource.ts')).addResourceCommands,
      review: async () => (await import('./commands/review.ts')).addReviewCommands,
      endpoint: async () => (await import('./commands/endpoint.ts')).addEndpointCommands,
      scope: async () => (await import('./commands/scope.ts')).addScopeCommands,
      'service-key': async () => (await import('./commands/service-key.ts')).addServiceKeyCommands,
      mail: async () => (await import('./commands/mail.ts')).addMailCommands,
      audit: async () => (await import('./commands/audit.ts')).addAuditCommands,
    },
  },
  {
    title: 'For app developers, over HTTP:',
    commands: {
      login: async () => (await import('./commands/login.ts')).addLoginCommand,
      logout: async () => (await import('./commands/login.ts')).addLogoutCommand,
      whoami: async () => (await import('./commands/login.ts')).addWhoamiCommand,
      versions: async () => (await import('./commands/versions.ts')).addVersionsCommands,
      installs: async () => (await import('./commands/installs.ts')).addInstallsCommands,
      webhooks: async () => (await import('./commands/webhooks.ts')).addWebhooksCommands,
      'dev-certificate': async () => (await import('./commands/dev-certificate.ts')).addDevCertificateCommand,
    },
  },
  {
    title: 'Documentation:',
    commands: { help: async () => (await import('./commands/help.ts')).addHelpCommand },
  },
]

const speakOfAll = new Set(['completion', 'help'])

/** The command that these words call, if it can be understood without the others: none for the version. */
const calledAlone = ([name = '']: readonly string[]): string | undefined => {
  if (name === '--version' || name === '-V') return ''
  return !speakOfAll.has(name) && groups.some(({ commands }) => Object.hasOwn(commands, name)) ? name : undefined
}

/** The command line: all commands and their options, or one of them. `words` are those that it will be called with. */
export const createProgram: CreateProgram = async (only, words = [], served = null, write = null) => {
  const program = new ProgramRoot(words, served, createProgram)
    .description('A self-hosted app platform: one program, and one SQLite file or PostgreSQL.')
    .addHelpText('after', notes)
    .option('-V, --version', 'print the version, the commit it was built from and the version of SQLite in it')
    .enablePositionalOptions() // `versions create` has its own --version
    .showHelpAfterError('Add --help to see what it takes.')
    .exitOverride()
    .hook('preAction', (_, command) => {
      refuseEmpty(command)
      refuseMisleading(command)
    })
    .configureOutput({
      outputError: (text, writeError) => writeError(withoutValues(text)),
      ...(write !== null && {
        writeOut: (text) => write('stdout', text),
        writeErr: (text) => write('stderr', text),
      }),
    })
  program.on('option:version', () => {
    process.stdout.write(`${versionText()}\n`)
    throw new CommanderError(0, 'commander.version', 'The version was printed.')
  })
  for (const { title, commands } of groups) {
    const adding = Object.entries(commands).filter(([name]) => only === undefined || name === only)
    if (adding.length > 0) program.commandsGroup(title)
    for (const [, load] of adding) (await load())(program)
  }
  return program
}

/** Free texts that a script may have nothing for. */
const mayBeEmpty = new Set(['notes', 'reason'])

/**
 * A script gives an empty argument or flag when its variable is unset. It must not be told that an empty name is unknown, and what an
 * empty flag would narrow must not look as if there were nothing. A flag of spaces is left to the operation that reads it.
 */
const refuseEmpty = (command: Command): void => {
  const { registeredArguments: known, args, options } = command
  const place = args.findIndex((word) => word.trim() === '')
  const flag = options.find((option) => {
    const name = option.attributeName()
    return !mayBeEmpty.has(name) && [command.getOptionValue(name)].flat().includes('')
  })
  if (place === -1 && flag === undefined) return
  const name = place === -1 ? flag?.long : `The ${(known[place] ?? known.at(-1))?.name() ?? 'argument'}`
  throw new UsageError(`${name} is empty: give one. In a script, check the variable that it comes from.`)
}

const isPath = (placeholder: string): boolean => /^(?:file|path|folder|source)$/.test(placeholder)

/** Each value of the arguments and flags that are paths, with its name. */
const pathsOf = (command: Command): readonly (readonly [name: string, path: string])[] => {
  const { registeredArguments: known, args, options } = command
  const words = args.flatMap((word, place) =>
    isPath(known[place]?.name() ?? '') ? [[known[place]?.name(), word]] : [],
  )
  const flags = options
    .filter(({ flags: usage }) => isPath(/<(\w+)>/.exec(usage)?.[1] ?? ''))
    .map((option) => [option.long, command.getOptionValue(option.attributeName())])
  return [...words, ...flags].flatMap(([name, path]) =>
    typeof name === 'string' && typeof path === 'string' ? [[name, path] as const] : [],
  )
}

/** Without a working folder a relative path leads beside the program itself. */
const assertWorkingFolder = (): void => {
  try {
    process.cwd()
  } catch {
    throw new UsageError('The folder in which this command was called was removed: change into another one.')
  }
}

/** @throws UsageError for a path that names another place than it seems to */
const refuseMisleading = (command: Command): void => {
  assertWorkingFolder()
  for (const [name, path] of pathsOf(command)) {
    const fault = misleading(path)
    if (fault !== null) throw new UsageError(`${name.startsWith('--') ? name : `The ${name}`} ${fault}`)
  }
}

const versionText = (): string =>
  `app-platform ${running.version} (commit ${running.commit}, SQLite ${sqliteVersion()}, Bun ${running.bunVersion})`

/** Runs one command line and returns the exit code. */
export const runProgram = async (words: readonly string[]): Promise<number> => {
  process.stdout.on('error', tellUnwritten)
  if (words.some((word) => withPassword.test(word))) process.stderr.write(`warning: ${visiblePassword}\n`)
  try {
    await (await createProgram(calledAlone(words), words)).parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    if (error instanceof Interrupted) return await endBy(error)
    const { exitCode, ...reason } = error instanceof CommanderError ? usageFault(error) : explain(error)
    // Commander has printed its message already.
    if (!(error instanceof CommanderError))
      for (const sentence of reason.sentences) process.stderr.write(`error: ${sentence}\n`)
    if (asksForJson(words)) process.stdout.write(failureLine(reason))
    return exitCode
  }
}

const withPassword = /^(--[a-z]+=)?postgres(ql)?:\/\/[^:@/?]*:[^@/?]+@/

const visiblePassword =
  'Other users of this machine can see the password in the arguments of this command: put the URL into DATABASE_URL instead.'

/** A reader that stops early, such as `head`, is no failure. An answer that could not be written to a full disk is one. */
const tellUnwritten = (error: Error): void => {
  if (hasCode(error, 'EPIPE')) return
  for (const sentence of explain(error).sentences)
    process.stderr.write(`error: The answer was not written. ${sentence}\n`)
  process.exitCode = 1
}
