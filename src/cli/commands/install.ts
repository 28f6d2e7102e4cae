import { type Command, Option } from 'commander'
import type { OperatorStep } from '../../domain/install.ts'
import { createInstall, type InstallRecord, moveInstall } from '../../operations/installs/installs.ts'
import { listInstalls } from '../../operations/installs/lists.ts'
import { addAppFlag, type AppFlag, namedApp } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { listAnswer, recordAnswer } from '../output.ts'

/** The API calls a website `site`; so do the database and `resource import`. */
const kindOfResource = { website: 'site', site: 'site', store: 'store' } as const
const kindOfInstall = { site: 'website', store: 'store' } as const

export const addInstallCommands = (program: Command): void => {
  const group = program
    .command('install')
    .description('Installs of apps on websites and stores.')
    .addHelpText('after', '\nFor operators. Developers list those of their app, on a server: see installs.')
  const operator = operatorCommands(group)
  operator('create <app>', 'Install an app on a website or store of a user; it waits for approval.', create)
    .requiredOption('--user <email>', 'whose website or store')
    .addOption(
      new Option('--kind <kind>', 'what it is; site is the same as website')
        .choices(['website', 'site', 'store'])
        .makeOptionMandatory(),
    )
    .requiredOption('--resource <slug>', 'the slug of an existing one')
  operator('approve <id>', 'Approve a pending install and make it active.', move('approve'))
  operator('reject <id>', 'Reject a pending install.', move('reject'))
  operator('deactivate <id>', 'End an active install.', move('deactivate'))
  addAppFlag(operator('list [app]', 'List the installs of an app or of all with their IDs, oldest first.', list))
}

type CreateFlags = { readonly user: string; readonly kind: keyof typeof kindOfResource; readonly resource: string }

const create = async (session: OperatorSession, slug: string, { user, kind, resource }: CreateFlags) => {
  const input = { slug, userEmail: user, kind: kindOfResource[kind], resourceSlug: resource }
  return recordAnswer(withKind(await createInstall(...session, input)))
}

const move = (step: OperatorStep) => async (session: OperatorSession, id: string) =>
  recordAnswer(withKind(await moveInstall(...session, { id, step })))

const list = async ([platform]: OperatorSession, app: string | undefined, flags: AppFlag) => {
  const installs = await listInstalls(platform, namedApp(app, flags))
  return listAnswer(installs.map(withKind), {
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
