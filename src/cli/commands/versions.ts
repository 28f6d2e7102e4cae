import { type Command, Option } from 'commander'
import type { PlatformClient, Version } from '../../client/index.ts'
import { environments } from '../../domain/app.ts'
import { bytesInWords } from '../../domain/text.ts'
import { type VersionStatus, versionStatuses } from '../../domain/version.ts'
import { uploadDraft } from '../developer/create-version.ts'
import {
  changing,
  credentialsHelp,
  developerCommand,
  type DeveloperFlags,
  standingText,
} from '../developer/developer-command.ts'
import { rollBackRemotely } from '../developer/roll-back-version.ts'
import { answer, CommandFailed, printable, recordAnswer, tableText } from '../output.ts'
import { openRemote } from '../remote.ts'

const listHelp = `
Newest first, all of them. "development head" is what developers of the app get, "live" is what users get.
${credentialsHelp}

Examples:
  app-platform versions list --status submitted
  app-platform versions list --json | jq -r '.data[] | select(.current.production) | .version'
`

const createHelp = `
A folder is packed into one ZIP: the same files give the same bytes, on every machine. A file must be a ZIP archive, and is
uploaded as it is. The artifact has at most 10 MiB. What the folder's .appignore lists, in the syntax of .gitignore, stays out, and so do
.git, .hg, .svn, .DS_Store and node_modules. Links that lead out of the folder are refused, and so are files with
secrets: .env, keys and keystores by their names, private keys and secrets of this platform by what is in them.

The manifest is app.json in the folder or in the archive, or what --manifest names:
  {
    "name": "Newsletter",                              needed
    "description": "Letters to your visitors",
    "icon": "icon.png",                                square PNG, JPEG or WebP
    "scopes": ["site:read"],                           each registered for the app
    "embedUrl": "https://newsletter.example/embed",
    "websiteUrl": "https://newsletter.example",        seen on consent and installs
    "supportUrl": "https://newsletter.example/help",   or mailto:
    "privacyUrl": "https://newsletter.example/privacy"
  }

A new version is a draft and becomes the development head. The same version again, while it is a draft, replaces its
content. Nothing changes for users: the owner of the app submits it for review in the console. What fails on the way
is repeated, under one idempotency key, so that nothing happens twice. --dry-run needs neither server nor credentials.
${credentialsHelp}

Examples:
  app-platform versions create ./dist --version 1.4.0 --dry-run
  app-platform versions create ./dist --version 1.4.0 --notes "Faster start" --manifest app.json
  APP_PLATFORM_URL=https://apps.example.com app-platform versions create . --version 1.4.0-beta.1 --json
`

const rollbackHelp = `
Without --to, to the next lower number; in production, to what was live before, but to no version that was rolled back:
with 1.0.0 live, 1.1.0 live, back to 1.0.0 and 1.2.0 live, it goes to 1.0.0. On a terminal it shows what will change and asks. Without a terminal it does not ask, and in production it needs --yes. In development
the head moves and users notice nothing; in production users get the other version at once.
${credentialsHelp}

Examples:
  app-platform versions rollback --dry-run
  app-platform versions rollback --to 1.3.0 --environment production --reason "1.4.0 crashes" --yes
`

export const addVersionsCommands = (program: Command): void => {
  const group = program.command('versions').description('Versions of your app on a server.')
  developerCommand(group, 'list', 'List the versions, with the development head and what is live.', list)
    .addOption(new Option('--status <status>', 'only those in this status').choices(versionStatuses))
    .addHelpText('after', listHelp)
  developerCommand(
    group,
    'delete <version>',
    'Remove a draft. If it is the development head, the newest version that is left is.',
    remove,
  ).addHelpText('after', `${credentialsHelp}\n\nExample:\n  app-platform versions delete 1.4.0-beta.1\n`)
  developerCommand(
    group,
    'show <version>',
    'Show one version: its status, manifest, artifact and review.',
    show,
  ).addHelpText('after', `${credentialsHelp}\n\nExample:\n  app-platform versions show 1.4.0\n`)
  developerCommand(group, 'create <source>', 'Upload a folder or a ZIP archive as a version.', uploadDraft)
    .requiredOption('--version <version>', 'its semantic version, such as 1.4.0')
    .option('--notes <text>', 'release notes')
    .option('--manifest <file>', 'the manifest, if it is not app.json in the folder or archive')
    .option('--dry-run', 'check and pack, list the files, and send nothing')
    .addHelpText('after', createHelp)
  developerCommand(group, 'rollback', 'Go back to another version, in development or for users.', rollBackRemotely)
    .option('--to <version>', 'the version to go back to')
    .addOption(new Option('--environment <environment>', 'where').choices(environments).default('development'))
    .option('--reason <text>', 'why; the list of rollbacks shows it')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--yes', 'do not ask; needed in production without a terminal')
    .addHelpText('after', rollbackHelp)
}

type ListFlags = DeveloperFlags & { readonly status?: VersionStatus }

const list = async (signal: AbortSignal, flags: ListFlags): Promise<void> => {
  const { client } = await openRemote(flags, { signal })
  const { status } = flags
  const data = await Array.fromAsync(client.versions.all(status === undefined ? {} : { status }, { signal }))
  if (data.length > 0)
    return answer(flags, { value: { data }, text: status === undefined ? tableOf(data) : rowsOf(data) })
  const none =
    status === undefined
      ? 'There are no versions yet. Upload one with app-platform versions create.'
      : `There are no versions in status ${status}.`
  answer(flags, { value: { data }, text: none })
}

const show = async (signal: AbortSignal, name: string, flags: DeveloperFlags): Promise<void> => {
  const { client } = await openRemote(flags, { signal })
  answer(flags, recordAnswer(await versionNamed(client, signal, name)))
}

const remove = async (signal: AbortSignal, name: string, flags: DeveloperFlags): Promise<void> => {
  const { client } = await openRemote(flags, { signal })
  const { id } = await versionNamed(client, signal, name)
  const doubt = `It is not known whether ${name} was removed: see app-platform versions list. Running the command again is safe.`
  const removed = await changing(signal, doubt, async () => await client.versions.delete(id, { signal }))
  answer(flags, { value: removed, text: printable(`Removed the draft ${removed.version}.`) })
}

/** The version with this name or ID. @throws CommandFailed if the app has none */
const versionNamed = async (client: PlatformClient, signal: AbortSignal, name: string): Promise<Version> => {
  for await (const version of client.versions.all({}, { signal })) {
    if (version.version === name || version.id === name) return version
  }
  throw new CommandFailed([`The app has no version ${name}. See app-platform versions list.`])
}

/** All versions of the app, and which are current. */
const tableOf = (versions: readonly Version[]): string => {
  const development = versions.find(({ current }) => current.development) ?? null
  const production = versions.find(({ current }) => current.production) ?? null
  return `${rowsOf(versions)}\n\n${standingText({ development, production })}`
}

const rowsOf = (versions: readonly Version[]): string => {
  const rows = versions.map((version) => ({ ...version, here: marksOf(version), size: sizeOf(version) }))
  return tableText(rows, {
    Version: 'version',
    Status: 'status',
    Current: 'here',
    Revision: 'revision',
    Artifact: 'artifact.filename',
    Size: 'size',
    Created: 'createdAt',
  })
}

const marksOf = ({ current }: Version): string =>
  [...(current.development ? ['development head'] : []), ...(current.production ? ['live'] : [])].join(', ')

const sizeOf = ({ artifact }: Version): string | null => (artifact === null ? null : bytesInWords(artifact.sizeBytes))
