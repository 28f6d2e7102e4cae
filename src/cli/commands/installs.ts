import { type Command, Option } from 'commander'
import type { AppInstallQuery } from '../../client/index.ts'
import { installStates } from '../../domain/install.ts'
import { resourceKinds } from '../../domain/resource.ts'
import {
  credentialsHelp,
  developerCommand,
  type DeveloperFlags,
  tellOfWaiting,
} from '../developer/developer-command.ts'
import { listAnswer, answer } from '../output.ts'
import { openRemote } from '../remote.ts'

const help = `
Only installs of the environment of the credentials that an operator approved. Of ended ones only the times are told.
For developers. Operators approve and end installs: see install.
${credentialsHelp}

Examples:
  app-platform installs list
  app-platform installs list --kind site --state active --json
`

export const addInstallsCommands = (program: Command): void => {
  const group = program
    .command('installs')
    .description('Websites and stores that have your app, on a server.')
    .addHelpText('after', help)
  developerCommand(group, 'list', 'List where the app is installed and by whom, oldest first.', list)
    .addOption(new Option('--kind <kind>', 'only on websites, or only on stores').choices([...resourceKinds]))
    .addOption(new Option('--state <state>', 'only installs in use, or only ended ones').choices([...installStates]))
    .option('--resource-id <id>', 'only on this website or store, by the ID that the builder has for it')
}

type ListFlags = DeveloperFlags & Pick<AppInstallQuery, 'kind' | 'state' | 'resourceId'>

const list = async (signal: AbortSignal, flags: ListFlags): Promise<void> => {
  const { url: _, insecureHttp: _2, json: _3, ...query } = flags
  const { client } = await openRemote(flags, { signal, onRepeat: tellOfWaiting })
  const data = await Array.fromAsync(client.installs.all(query, { signal }))
  const rows = data.map(({ resource, ...install }) => ({ ...install, place: resource?.id, slug: resource?.slug }))
  answer(flags, { ...listAnswer(rows, columns), value: { data } })
}

const columns = {
  ID: 'id',
  Kind: 'kind',
  Place: 'place',
  Slug: 'slug',
  User: 'userId',
  State: 'state',
  Since: 'createdAt',
} as const
