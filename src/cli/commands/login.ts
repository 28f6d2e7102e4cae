import type { Command } from 'commander'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { CommandFailed } from '../command-failed.ts'
import { keepLogin } from '../developer/credential-file.ts'
import { developerCommand, type DeveloperFlags } from '../developer/developer-command.ts'
import { interruptible } from '../developer/interruption.ts'
import { askAll, hasTerminal } from '../developer/prompt.ts'
import { type ClientCredentials, readDeveloperSettings } from '../developer/settings.ts'
import { answer } from '../output.ts'
import { connect, serverOf } from '../remote.ts'
import { UsageError } from '../usage-error.ts'

const help = `
Asks for the client ID and the client secret of the development environment, which the console shows when a secret is
made; the secret is not shown while you type. With APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET set, it asks
nothing. Both are checked with the server, and kept in a file for you alone, one per server, under
$XDG_CONFIG_HOME/app-platform (~/.config/app-platform).

Example:
  app-platform login --url https://apps.example.com
`

export const addLoginCommand = (program: Command): void => {
  developerCommand(program, 'login', 'Keep the development credentials of an app, once the server has taken them.')
    .addHelpText('after', help)
    .action(async (flags: DeveloperFlags) => await interruptible(async (signal) => await login(flags, signal)))
}

const login = async (flags: DeveloperFlags, signal: AbortSignal): Promise<void> => {
  const settings = readDeveloperSettings(flags)
  const url = serverOf(settings)
  const credentials = settings.credentials ?? (await askFor(url, signal))
  refuseProduction(environmentOfClientId(credentials.clientId))
  const { client, scope } = await connect(settings, url, credentials, { signal })
  refuseProduction((await client.appToken({ signal })).environment)
  const app = await client.me({ signal })
  const file = keepLogin(settings.folder, { url, ...credentials, scope })
  const { name, slug, clientId, environment } = app
  answer(
    flags,
    { url, clientId, name, slug, environment },
    `Logged in to ${url} as ${name} (${slug}), ${environment}. Kept in ${file}.`,
  )
}

const askFor = async (url: string, signal: AbortSignal): Promise<ClientCredentials> => {
  if (!hasTerminal()) {
    throw new UsageError('There is no terminal to ask at: set APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET.')
  }
  process.stderr.write(`Development credentials of your app at ${url}\n`)
  const questions = [{ text: 'Client ID: ' }, { text: 'Client secret (not shown): ', hidden: true }]
  const [clientId = '', clientSecret = ''] = await askAll(questions, signal)
  if (clientId === '' || clientSecret === '') throw new CommandFailed(['Nothing was entered, and nothing was kept.'])
  return { clientId, clientSecret }
}

/** Versions take development credentials only; and a production secret has no business on a developer's machine. */
const refuseProduction = (environment: string | null): void => {
  if (environment !== 'production') return
  throw new CommandFailed([
    'These are production credentials, and nothing was kept. Use those of the development environment, which begin with apc_dev_ and aps_dev_.',
  ])
}
