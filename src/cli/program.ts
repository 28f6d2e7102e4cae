import { Command, CommanderError } from 'commander'
import { sqliteVersion } from '../../db/sqlite/connection.ts'
import { hasCode } from '../runtime/cause.ts'
import { program as running } from '../runtime/program.ts'
import { addAppCommands } from './commands/app.ts'
import { addAuditCommands } from './commands/audit.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addClockCommands } from './commands/clock.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addCredentialCommands } from './commands/credential.ts'
import { addCheckCommand, addMigrateCommand, addPurgeCommand } from './commands/database.ts'
import { addDevCertificateCommand } from './commands/dev-certificate.ts'
import { addDevCommand } from './commands/dev.ts'
import { addHealthCommand } from './commands/health.ts'
import { addHelpCommand } from './commands/help.ts'
import { addInstallCommands } from './commands/install.ts'
import { addLoginCommand, addLogoutCommand, addWhoamiCommand } from './commands/login.ts'
import { addMailCommands } from './commands/mail.ts'
import { addMoveCommand } from './commands/move.ts'
import { addPrintCommands } from './commands/print.ts'
import { addRecoverCommand } from './commands/recover.ts'
import { addRedirectCommands } from './commands/redirect.ts'
import { addResourceCommands } from './commands/resource.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addReviewCommands } from './commands/review.ts'
import { addSeedCommand } from './commands/seed.ts'
import { addServiceKeyCommands } from './commands/service-key.ts'
import { addServeCommand } from './commands/serve.ts'
import { addUserCommands } from './commands/user.ts'
import { addVersionsCommands } from './commands/versions.ts'
import { addWebhookCommands } from './commands/webhook.ts'
import { addWebhooksCommands } from './commands/webhooks.ts'
import { endBy, Interrupted } from './developer/developer-command.ts'
import { explain, usageCode } from './explain.ts'
import { failure } from './output.ts'

const notes = `
Every command takes --help. Operator commands work on the database itself, whether a server is running or not.
With --json they print one JSON value, on failure {"error":{"code","message"}}. They exit 0 when done, 1 when refused or failed, 2 when called wrongly.

Settings come from flags, then from the environment; app-platform help settings describes all of them:
  DATABASE_URL    --database     file:./data/app-platform.db, or a postgres:// URL
  PORT, HOST      --port --host  3000, 127.0.0.1
  PUBLIC_URL      --public-url   http://localhost:<port>
  TRUSTED_PROXIES                addresses and networks whose X-Forwarded-For counts

Commands for app developers need no database but a server (--url, APP_PLATFORM_URL) and the development credentials of
an app: from login, or from APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET, as in a pipeline.`

/** The whole command line, with its commands and their options. */
export const createProgram = (): Command => {
  const program = new Command('app-platform')
    .description('A self-hosted app platform: one program, and one SQLite file or PostgreSQL.')
    .addHelpText('after', notes)
    .option('-V, --version', 'print the version, the commit it was built from and the version of SQLite in it')
    .enablePositionalOptions() // `versions create` has its own --version
    .showHelpAfterError('Add --help to see what it takes.')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutValues(text)) })
  program.on('option:version', () => {
    process.stdout.write(`${versionText()}\n`)
    throw new CommanderError(0, 'commander.version', 'The version was printed.')
  })
  program.commandsGroup('Server:')
  addServeCommand(program)
  addDevCommand(program)
  addHealthCommand(program)
  addPrintCommands(program)
  addCompletionCommand(program)
  program.commandsGroup('Database:')
  addMigrateCommand(program)
  addCheckCommand(program)
  addBackupCommand(program)
  addRestoreCommand(program)
  addRecoverCommand(program)
  addMoveCommand(program)
  addClockCommands(program)
  addPurgeCommand(program)
  addSeedCommand(program)
  program.commandsGroup('People, apps and what they have:')
  addUserCommands(program)
  addAppCommands(program)
  addCredentialCommands(program)
  addRedirectCommands(program)
  addInstallCommands(program)
  addResourceCommands(program)
  addReviewCommands(program)
  addWebhookCommands(program)
  addServiceKeyCommands(program)
  addMailCommands(program)
  addAuditCommands(program)
  program.commandsGroup('For app developers, over HTTP:')
  addLoginCommand(program)
  addLogoutCommand(program)
  addWhoamiCommand(program)
  addVersionsCommands(program)
  addWebhooksCommands(program)
  addDevCertificateCommand(program)
  program.commandsGroup('Documentation:')
  addHelpCommand(program)
  return program
}

const versionText = (): string =>
  `app-platform ${running.version} (commit ${running.commit}, SQLite ${sqliteVersion()}, Bun ${running.bunVersion})`

/** Runs one command line and returns the exit code. */
export const runProgram = async (words: readonly string[]): Promise<number> => {
  process.stdout.on('error', tellUnwritten)
  if (words.some((word) => withPassword.test(word))) process.stderr.write(`warning: ${visiblePassword}\n`)
  try {
    await createProgram().parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    if (error instanceof Interrupted) return await endBy(error)
    const { exitCode, ...reason } = error instanceof CommanderError ? usageFault(error) : explain(error)
    // Commander has printed its message already.
    if (!(error instanceof CommanderError))
      for (const sentence of reason.sentences) process.stderr.write(`error: ${sentence}\n`)
    if (asksForJson(words)) failure(reason)
    return exitCode
  }
}

/** What the parser of the command line refused. The help of a group that was called without a command is no message. */
const usageFault = ({ code, message }: CommanderError) => ({
  exitCode: 2 as const,
  code: usageCode,
  requestId: null,
  sentences: [
    code === 'commander.help'
      ? 'Name a command. Add --help to see all.'
      : withoutValues(message)
          .trim()
          .replace(/^error: /, ''),
  ],
})

/** Looked for in the words, because a command line that cannot be parsed has no flags. */
const asksForJson = (words: readonly string[]): boolean => {
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? words.length : end).includes('--json')
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

/** An extra argument or the value of an unknown flag may be a secret, so the message does not repeat it. */
const withoutValues = (text: string): string =>
  text
    .replace(/^(error: unknown option '-[^=']*)=[^]*'/, "$1'")
    .replace(/^(error: too many arguments [^]* but got \d+): [^]*$/, '$1.\n')
