import type { Command } from 'commander'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { forgetLogin, keepLogin, keptClient } from '../developer/credential-file.ts'
import { credentialsHelp, developerCommand, type DeveloperFlags } from '../developer/developer-command.ts'
import { type DeveloperCredentials, readDeveloperSettings } from '../developer/settings.ts'
import { answer, CommandFailed, recordAnswer, UsageError } from '../output.ts'
import { askAll, hasTerminal } from '../prompt.ts'
import { connectToServer, openRemote, serverOf } from '../remote.ts'

const loginHelp = `
Asks for the client ID and the client secret of the development environment, which the console shows when a secret is
made; the secret is not shown while you type. With APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET set, it asks
nothing. Both are checked with the server, and saved in a file that only you can read, one per server, under
$XDG_CONFIG_HOME/app-platform (~/.config/app-platform).

Example:
  app-platform login --url https://apps.example.com
`

export const addLoginCommand = (program: Command): void => {
  developerCommand(
    program,
    'login',
    'Save the development credentials of an app after the server has accepted them.',
    login,
  ).addHelpText('after', loginHelp)
}

const login = async (signal: AbortSignal, flags: DeveloperFlags): Promise<void> => {
  const settings = readDeveloperSettings(flags)
  const url = serverOf(settings)
  const credentials = settings.credentials ?? (await askFor(url, signal))
  refuseProduction(environmentOfClientId(credentials.clientId))
  const { client, scope } = await connectToServer({ ...settings, url, credentials, scope: null }, { signal })
  refuseProduction((await client.appToken({ signal })).environment)
  const { name, slug, clientId, environment } = await client.me({ signal })
  const before = keptClient(settings.folder, url)
  const file = keepLogin(settings.folder, { url, ...credentials, scope })
  const replaced = before === null || before === clientId ? '' : ` It replaces those of ${before}.`
  const text = `Signed in to ${url} as ${name} (${slug}), ${environment}. Saved in ${file}.${replaced}`
  answer(flags, { value: { url, clientId, name, slug, environment }, text })
}

const askFor = async (url: string, signal: AbortSignal): Promise<DeveloperCredentials> => {
  if (!hasTerminal()) {
    throw new UsageError('There is no terminal to ask at: set APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET.')
  }
  process.stderr.write(`Development credentials of your app at ${url}\n`)
  const questions = [{ text: 'Client ID: ' }, { text: 'Client secret (not shown): ', hidden: true }]
  const [clientId = '', clientSecret = ''] = await askAll(questions, signal)
  if (clientId === '' || clientSecret === '') throw new CommandFailed(['Nothing was entered, and nothing was saved.'])
  return { clientId, clientSecret }
}

/** Versions accept development credentials only, and a production secret does not belong on a developer's machine. */
const refuseProduction = (environment: string | null): void => {
  if (environment !== 'production') return
  throw new CommandFailed([
    'These are production credentials, and nothing was saved. Use those of the development environment, which begin with apc_dev_ and aps_dev_.',
  ])
}

const logoutHelp = `
Removes the file on this machine. The secret itself still works: to end it, rotate or revoke it in the console.

Example:
  app-platform logout --url https://apps.example.com
`

export const addLogoutCommand = (program: Command): void => {
  developerCommand(program, 'logout', 'Remove the saved credentials for a server.', logout).addHelpText(
    'after',
    logoutHelp,
  )
}

const logout = async (_: AbortSignal, flags: DeveloperFlags): Promise<void> => {
  const settings = readDeveloperSettings(flags)
  const url = serverOf(settings)
  const removed = forgetLogin(settings.folder, url)
  const text = removed ? `Signed out of ${url}. The secret itself still works.` : `You were not signed in to ${url}.`
  answer(flags, { value: { url, removed }, text })
}

export const addWhoamiCommand = (program: Command): void => {
  developerCommand(
    program,
    'whoami',
    'Show which app the credentials belong to, and where they come from.',
    whoami,
  ).addHelpText('after', `${credentialsHelp}\n\nExample:\n  app-platform whoami --json\n`)
}

const whoami = async (signal: AbortSignal, flags: DeveloperFlags): Promise<void> => {
  const { client, url, source } = await openRemote(flags, { signal })
  answer(flags, recordAnswer({ ...(await client.me({ signal })), url, credentials: source }))
}
