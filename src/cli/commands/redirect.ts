import type { Command } from 'commander'
import type { Environment } from '../../domain/app.ts'
import { addRedirectUri, listRedirectUris, removeRedirectUri } from '../../operations/redirect-uris.ts'
import { addAppFlag, type AppFlag, environmentOption, requiredApp } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { recordAnswer } from '../output.ts'

export const addRedirectCommands = (program: Command): void => {
  const operator = operatorCommands(
    program.command('redirect').description('Redirect URIs: HTTPS, compared byte for byte.'),
  )
  operator('add <app> <uri>', 'Register a redirect URI of an app.', change(addRedirectUri)).addOption(
    environmentOption(),
  )
  operator(
    'remove <app> <uri>',
    'Remove a redirect URI; it is refused from then on.',
    change(removeRedirectUri),
  ).addOption(environmentOption())
  addAppFlag(
    operator(
      'list [app]',
      'List the redirect URIs of an app.',
      async ([platform], app: string | undefined, flags: AppFlag) =>
        recordAnswer(await listRedirectUris(platform, requiredApp(app, flags))),
    ),
  )
}

type Flags = { readonly environment: Environment }

const change =
  (operation: typeof addRedirectUri) =>
  async (session: OperatorSession, slug: string, uri: string, { environment }: Flags) =>
    recordAnswer(await operation(...session, { slug, environment, uri }))
