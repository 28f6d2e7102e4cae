import { type Command, Option } from 'commander'
import type { OperatorStep } from '../../domain/install.ts'
import { createInstall } from '../../operations/installs/create-install.ts'
import type { InstallRecord } from '../../operations/installs/install-record.ts'
import { listInstalls } from '../../operations/installs/lists.ts'
import { moveInstall } from '../../operations/installs/move-install.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord } from '../output.ts'

type CreateFlags = CommonFlags & {
  readonly user: string
  readonly kind: 'website' | 'store'
  readonly resource: string
}
type ListFlags = CommonFlags & { readonly app?: string }

/** The API calls a website `site`; so do the database and `resource import`. */
const kindOfResource = { website: 'site', store: 'store' } as const
const kindOfInstall = { site: 'website', store: 'store' } as const

export const addInstallCommands = (program: Command): void => {
  const group = program.command('install').description('Installs of apps on websites and stores.')
  operatorCommand(group, 'create <slug>', 'Install an app on a website or store of a user; it waits for approval.')
    .requiredOption('--user <email>', 'whose website or store')
    .addOption(new Option('--kind <kind>', 'what it is').choices(['website', 'store']).makeOptionMandatory())
    .requiredOption('--resource <slug>', 'the slug of an existing one')
    .action(create)
  operatorCommand(group, 'approve <id>', 'Approve a pending install and make it active.').action(move('approve'))
  operatorCommand(group, 'reject <id>', 'Reject a pending install.').action(move('reject'))
  operatorCommand(group, 'deactivate <id>', 'End an active install.').action(move('deactivate'))
  operatorCommand(group, 'list', 'List every install with its ID, oldest first.')
    .option('--app <slug>', 'only those of one app')
    .action(list)
}

const create = async (slug: string, flags: CreateFlags): Promise<void> => {
  const input = { slug, userEmail: flags.user, kind: kindOfResource[flags.kind], resourceSlug: flags.resource }
  const install = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await createInstall(platform, trace, actor, input),
  )
  answerInstall(flags, install)
}

const move = (step: OperatorStep) => async (id: string, flags: CommonFlags) => {
  const install = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await moveInstall(platform, trace, actor, { id, step }),
  )
  answerInstall(flags, install)
}

const list = async (flags: ListFlags): Promise<void> => {
  const installs = await asOperator(flags, async ({ platform }) => await listInstalls(platform, flags.app ?? null))
  answerList(flags, installs.map(withKind), {
    ID: 'id',
    App: 'app',
    User: 'user',
    Kind: 'kind',
    Resource: 'resource',
    Approval: 'approval',
    State: 'state',
    Created: 'createdAt',
  })
}

const withKind = <T extends InstallRecord>(install: T) => ({ ...install, kind: kindOfInstall[install.kind] })

const answerInstall = (flags: CommonFlags, install: InstallRecord): void => answerRecord(flags, withKind(install))
