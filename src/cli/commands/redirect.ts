import type { Command } from 'commander'
import type { Environment } from '../../domain/app.ts'
import { addRedirectUri, listRedirectUris, removeRedirectUri } from '../../operations/redirect-uris.ts'
import { asOperator, type CommonFlags, environmentOption, operatorCommand } from '../operator-command.ts'
import { answerRecord } from '../output.ts'

type Flags = CommonFlags & { readonly environment: Environment }

export const addRedirectCommands = (program: Command): void => {
  const group = program.command('redirect').description('Redirect URIs: HTTPS, compared byte for byte.')
  operatorCommand(group, 'add <slug> <uri>', 'Register a redirect URI of an app.')
    .addOption(environmentOption())
    .action(change(addRedirectUri))
  operatorCommand(group, 'remove <slug> <uri>', 'Take a redirect URI away; it is refused from then on.')
    .addOption(environmentOption())
    .action(change(removeRedirectUri))
  operatorCommand(group, 'list <slug>', 'List the redirect URIs of an app.').action(list)
}

const change = (operation: typeof addRedirectUri) => async (slug: string, uri: string, flags: Flags) => {
  const { environment } = flags
  const left = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await operation(platform, trace, actor, { slug, environment, uri }),
  )
  answerRecord(flags, left)
}

const list = async (slug: string, flags: CommonFlags): Promise<void> =>
  answerRecord(flags, await asOperator(flags, async ({ platform }) => await listRedirectUris(platform, slug)))
